import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { heapRoom } from './heap-room.ts';

const module = JSON.stringify(new URL('heap-room.ts', import.meta.url).href);

async function runWorker(program: string, ...args: string[]): Promise<string> {
  const flags = [...heapRoom.http, '--expose-gc', '--input-type=module'];
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...flags,
    '--eval',
    program,
    '--',
    ...args,
  ]);
  return stdout;
}

/** The megabytes that a thread holds for young objects after it has made many of them. */
async function youngMegabytesOfThread(...args: string[]): Promise<number> {
  const stdout = await runWorker(
    `
    import { Worker } from 'node:worker_threads';
    import { leaveThreadsSmall } from ${module};
    if (process.argv.includes('small')) leaveThreadsSmall();
    const inThread = \`
      const kept = [];
      for (let n = 0; n < 3e6; n++) kept[n % 1000] = { n };
      const spaces = process.getBuiltinModule('node:v8').getHeapSpaceStatistics();
      console.log(spaces.find((space) => space.space_name === 'new_space').space_size / 2 ** 20);
    \`;
    new Worker(inThread, { eval: true });
  `,
    ...args,
  );
  return Number(stdout);
}

/** The megabytes of old objects that V8 lets a heap have, after it has collected the whole of it. */
async function oldMegabytes(place: 'here' | 'in a thread'): Promise<number> {
  const stdout = await runWorker(
    `
    import { Worker } from 'node:worker_threads';
    import { setFlagsFromString } from 'node:v8';
    import { leaveThreadsSmall } from ${module};
    leaveThreadsSmall();
    setFlagsFromString('--trace-gc-verbose');
    const collect = () => { gc(); gc(); };
    if (process.argv.includes('here')) collect();
    else new Worker('(' + collect + ')()', { eval: true });
  `,
    place,
  );
  const limits = [...stdout.matchAll(/\[HeapController\] Limit: .* new limit: (\d+) KB/g)];
  return Number(limits.at(-1)?.[1]) / 1024;
}

test('threads have no more room for young objects than they use', async () => {
  expect(await youngMegabytesOfThread()).toBeGreaterThanOrEqual(32);
  expect(await youngMegabytesOfThread('small')).toBeLessThanOrEqual(8);
});

test('a worker keeps its room for old objects when they were collected, its threads have none', async () => {
  expect(await oldMegabytes('here')).toBeGreaterThanOrEqual(96);
  expect(await oldMegabytes('in a thread')).toBeLessThan(64);
});
