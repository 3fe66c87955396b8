import { expect, test } from 'vitest';
import { startTarget, type TargetStores } from '../attack/target-server.ts';
import { errorLines, fuzz } from './fuzz-run.ts';

/** Another one every time; a problem names the seed that repeats it. */
const seed = Number(process.env['SVC_FUZZ_SEED'] ?? Date.now() >>> 0);
const count = Number(process.env['SVC_FUZZ_COUNT'] ?? 100_000);

test.for<[TargetStores, number]>([
  ['embedded', count],
  ['postgres and s3', count / 5],
])(
  'on stores %s, %i generated requests are answered as they should be',
  async ([stores, requests], { skip }) => {
    const target = await startTarget(stores);
    if (target === undefined) return skip(`no ${stores} here`);
    const report = await fuzz(target, {
      seed,
      count: requests,
      progress: (line) => process.stderr.write(`seed ${seed}: ${line}\n`),
    });
    const { code, stdout, stderr } = await target.server.stop();
    expect(report.problems).toEqual([]);
    expect(errorLines(stdout + stderr)).toEqual([]);
    expect(code).toBe(0);
  },
);
