import type { HookContext } from './hook-event.ts';
import type { HookOutput } from './hook-output.ts';

/** What a running hook is given. */
export interface HookRunning extends HookContext {
  readonly output: HookOutput;
  /** Aborted when the server must stop. */
  readonly signal: AbortSignal;
  /** A request waits for this hook. */
  readonly isAwaited: boolean;
  /** Hooks whose calls led to this event, one inside the other. */
  readonly depth: number;
}

/** A hook made from its properties, ready to run. Rejects with a `HookFailure` when it does not pass. */
export interface Hook {
  run(running: HookRunning): Promise<void>;
}
