import { setFlagsFromString } from 'node:v8';

/**
 * The flags of an HTTP worker give room for what requests leave behind. They hold for every thread that it starts, too,
 * which serves no requests: each would take 32 MB or more for itself. Zero means what V8 does by itself.
 */
export function leaveThreadsSmall(): void {
  setFlagsFromString('--min-semi-space-size=0');
  setFlagsFromString('--max-semi-space-size=0');
}
