import { setFlagsFromString } from 'node:v8';

/**
 * The flags of an HTTP worker give room for what requests leave behind. They hold for every thread that it starts, too,
 * which works piece by piece and needs little: each would take 32 MB or more for itself.
 */
export function leaveThreadsSmall(): void {
  // Zero means V8's own choice.
  setFlagsFromString('--min-semi-space-size=0');
  setFlagsFromString('--max-semi-space-size=4');
}
