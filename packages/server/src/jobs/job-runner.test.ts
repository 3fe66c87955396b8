import type { Job, JobRound } from '@svc/engine';
import { createMemStore, MemState } from '@svc/kv';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { JobRunner } from './job-runner.ts';
import { processJobs } from './jobs.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const logger = { debug() {}, info() {}, warn() {}, error() {} };
const termMs = 60_000;

/** Servers on one store, and a job whose rounds they note. */
function house() {
  const state = new MemState();
  const rounds: string[] = [];
  const server = (name: string, work?: (round: JobRound) => Promise<unknown>) => {
    const runner = new JobRunner({ kv: createMemStore(state), logger, leaseTermMs: termMs });
    const job: Job = {
      name: 'sweep',
      everyMs: 10_000,
      lease: 'housekeeping',
      begin: () => (round) => {
        rounds.push(name);
        return work?.(round) ?? Promise.resolve();
      },
    };
    runner.start([job]);
    return runner;
  };
  return { rounds, server };
}

test('of two servers on one store only the holder of the lease runs the job', async () => {
  const { rounds, server } = house();
  const [first, second] = [server('first'), server('second')];
  await vi.advanceTimersByTimeAsync(5 * termMs);
  expect(new Set(rounds)).toEqual(new Set(['first']));
  expect(rounds.length).toBeGreaterThan(20);
  await first.stop();
  rounds.length = 0;
  await vi.advanceTimersByTimeAsync(termMs);
  expect(new Set(rounds)).toEqual(new Set(['second']));
  await second.stop();
});

test('a holder that lost its lease while it was paused ends its round before the next step', async () => {
  const { rounds, server } = house();
  const pause = Promise.withResolvers<void>();
  const steps: string[] = [];
  const first = server('first', async (round) => {
    for (let step = 0; step < 3 && (await round.mayGoOn()); step += 1) {
      steps.push('step');
      await pause.promise;
    }
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(steps).toEqual(['step']);
  // The paused process renews nothing: its clock stands still while the other's goes on.
  vi.setSystemTime(Date.now() + termMs + 1);
  const second = server('second');
  await vi.advanceTimersByTimeAsync(0);
  expect(rounds).toEqual(['first', 'second']);
  pause.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(steps).toEqual(['step']);
  await vi.advanceTimersByTimeAsync(termMs);
  expect(rounds.slice(2)).not.toContain('first');
  await Promise.all([first.stop(), second.stop()]);
});

test('a failed round does not end the job', async () => {
  const begun: string[] = [];
  const runner = new JobRunner({ kv: createMemStore(), logger });
  runner.start([
    {
      name: 'fails',
      everyMs: 1000,
      begin: () => () => {
        begun.push('round');
        return Promise.reject(new Error('broken'));
      },
    },
  ]);
  await vi.advanceTimersByTimeAsync(3000);
  expect(begun.length).toBe(4);
  await runner.stop();
});

test('stopping waits for the round under way and starts no other', async () => {
  const end = Promise.withResolvers<void>();
  const { rounds, server } = house();
  const runner = server('only', () => end.promise);
  await vi.advanceTimersByTimeAsync(0);
  let stopped = false;
  const stopping = runner.stop().then(() => (stopped = true));
  await vi.advanceTimersByTimeAsync(termMs);
  expect(stopped).toBe(false);
  end.resolve();
  await stopping;
  await vi.advanceTimersByTimeAsync(termMs);
  expect(rounds).toEqual(['only']);
});

test('usage is flushed by one timer, and by none when the interval is 0', () => {
  const usage = { record() {}, flush: () => Promise.resolve(), reports: () => Promise.resolve([]) };
  const jobsWith = (env: Record<string, string>) =>
    processJobs(
      { config: loadConfig({ env, cwd: '/nowhere', preset: 'local-settings' }).config },
      { usage },
    ).map(({ name, everyMs }) => ({ name, everyMs }));
  expect(jobsWith({})).toEqual([{ name: 'flush-usage', everyMs: 300_000 }]);
  expect(jobsWith({ SVC_USAGE_REPORT_FLUSH_INTERVAL: '0s' })).toEqual([]);
  expect(jobsWith({ SVC_USAGE_REPORT_ENABLED: 'false' })).toEqual([]);
});
