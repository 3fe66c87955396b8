import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { parseDuration } from './duration.ts';
import { CliError, UsageError } from './errors.ts';

export interface PollFlags {
  readonly pollInterval: string;
  readonly timeout: string;
}

/** `--poll-interval` and `--timeout` of commands that start a task on the server. */
export function withPollFlags(command: Command, timeout = '1h0m0s'): Command {
  return command
    .option('--poll-interval <duration>', 'how often to ask for the state, at least 1s', '3s')
    .option(
      '--timeout <duration>',
      'give up when the task did not move for so long; negative: never',
      timeout,
    );
}

interface TaskState {
  readonly done: boolean;
  readonly error?: string | undefined;
  readonly update_time: string;
}

/** Asks for a task's state until it is done. */
export async function pollTask<State extends TaskState>(
  flags: PollFlags,
  read: () => Promise<State>,
  signal?: AbortSignal,
): Promise<State> {
  const { intervalMs, timeoutMs } = checkedPoll(flags);
  for (;;) {
    const state = await read();
    if (state.error !== undefined && state.error !== '') throw new CliError(state.error);
    if (state.done) return state;
    if (timeoutMs >= 0 && Date.now() - Date.parse(state.update_time) > timeoutMs) {
      throw new CliError(`the task made no progress for ${flags.timeout}`);
    }
    await pause(intervalMs, undefined, { signal });
  }
}

export function checkedPoll(flags: PollFlags): { intervalMs: number; timeoutMs: number } {
  const intervalMs = parseDuration(flags.pollInterval);
  const timeoutMs = parseDuration(flags.timeout);
  if (intervalMs === undefined)
    throw new UsageError(`--poll-interval "${flags.pollInterval}" is not a duration`);
  if (timeoutMs === undefined) throw new UsageError(`--timeout "${flags.timeout}" is not a duration`);
  if (intervalMs < 1000) throw new UsageError('--poll-interval must be at least 1s');
  return { intervalMs, timeoutMs };
}
