import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Prints the megabytes that a thread holds for young objects after it has made many of them. */
const program = `
  import { Worker } from 'node:worker_threads';
  import { leaveThreadsSmall } from ${JSON.stringify(new URL('thread-heaps.ts', import.meta.url).href)};
  if (process.argv.includes('small')) leaveThreadsSmall();
  const inThread = \`
    const kept = [];
    for (let n = 0; n < 3e6; n++) kept[n % 1000] = { n };
    const spaces = process.getBuiltinModule('node:v8').getHeapSpaceStatistics();
    console.log(spaces.find((space) => space.space_name === 'new_space').space_size / 2 ** 20);
  \`;
  new Worker(inThread, { eval: true });
`;

async function youngMegabytes(...args: string[]): Promise<number> {
  const flags = ['--min-semi-space-size=16', '--max-semi-space-size=24', '--input-type=module'];
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...flags,
    '--eval',
    program,
    '--',
    ...args,
  ]);
  return Number(stdout);
}

test('threads have no more room for young objects than they use', async () => {
  expect(await youngMegabytes()).toBeGreaterThanOrEqual(32);
  expect(await youngMegabytes('small')).toBeLessThanOrEqual(8);
});
