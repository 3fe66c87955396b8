import { defineConfig } from 'vitest/config';
import { SecondChances } from './packages/testing/src/vitest-second-chances.ts';
import { LongestFirst } from './packages/testing/src/vitest-sequencer.ts';

const long = process.env['SVC_TEST_LONG'] === '1';
/** Set by a plain `npm test`: leaves out the suites that take long. */
const quick = process.env['SVC_TEST_QUICK'] === '1';

// Two projects: `fast` shares one module graph per worker (isolation costs 20x), `process` holds tests that
// start, kill or measure processes of their own. Names decide: x.test.ts, x.process.test.ts, x.ci.test.ts,
// x.long.test.ts.
export default defineConfig({
  test: {
    globalSetup: ['packages/testing/src/vitest-global-setup.ts'],
    reporters: ['default', new SecondChances()],
    pool: 'forks',
    // More than the two cores of a small machine: some wait for a server, a browser or a download.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 240_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: long ? [] : ['packages/*/{src,test}/**/*.test.ts', 'bench/src/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/*.{process,ci,long}.test.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          include: long
            ? ['packages/*/{src,test}/**/*.long.test.ts']
            : [`packages/*/{src,test}/**/*.${quick ? 'process' : '{process,ci}'}.test.ts`],
          exclude: ['**/node_modules/**'],
          isolate: true,
          testTimeout: long ? 3_600_000 : 120_000,
          // Patience may end on a busy machine. A wrong answer is never given a second chance.
          retry: process.env['CI'] === 'true' ? { count: 1, condition: /timeout|timed out/i } : 0,
        },
      },
    ],
  },
});
