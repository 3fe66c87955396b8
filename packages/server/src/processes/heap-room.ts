import { setFlagsFromString } from 'node:v8';
import type { Role } from './messages.ts';

/**
 * Room for what requests leave behind: many young objects at once, and with more room most are dead before the collector
 * looks. V8 collects the whole heap when what is left of it could not take all young objects. A worker's heap is small,
 * so that would be twice a second under load and cost a tenth of the processor time and more; with room for old objects
 * it is every few seconds.
 * What happens in the background is done piece by piece: more room would only stay filled with what is dead.
 */
export const heapRoom: Readonly<Record<Role, readonly string[]>> = {
  http: ['--min-semi-space-size=16', '--max-semi-space-size=24', '--initial-old-space-size=96'],
  background: ['--max-semi-space-size=4'],
};

/**
 * The flags of an HTTP worker hold for every thread that it starts, too. Threads work piece by piece and need little: each
 * would take 32 MB or more for itself.
 */
export function leaveThreadsSmall(): void {
  // Zero means V8's own choice.
  setFlagsFromString('--min-semi-space-size=0');
  setFlagsFromString('--max-semi-space-size=4');
  setFlagsFromString('--initial-old-space-size=0');
}
