import { expect, test } from 'vitest';
import { startTarget, type TargetStores } from '../attack/target-server.ts';
import { errorLines, fuzz } from './fuzz-run.ts';

/** Repeats a request of a run: `SVC_FUZZ_SEED=… SVC_FUZZ_ONLY=…`. */
const seed = Number(process.env['SVC_FUZZ_SEED'] ?? 20_240_229);
const only = process.env['SVC_FUZZ_ONLY'];

test.for<[TargetStores, number]>([
  ['embedded', 3000],
  ['postgres and s3', 1000],
])(
  'on stores %s, %i generated requests are answered as they should be',
  async ([stores, count], { skip }) => {
    const target = await startTarget(stores);
    if (target === undefined) return skip(`no ${stores} here`);
    const report = await fuzz(target, { seed, count, only: only === undefined ? undefined : Number(only) });
    const { code, stdout, stderr } = await target.server.stop();
    expect(report.problems).toEqual([]);
    // The generator is worth its time only while many requests get through to their operation.
    const done = [...report.statuses]
      .filter(([status]) => status < 400)
      .reduce((sum, [, number]) => sum + number, 0);
    if (only === undefined) expect(done).toBeGreaterThan(count / 15);
    expect(errorLines(stdout + stderr)).toEqual([]);
    expect(code).toBe(0);
  },
);
