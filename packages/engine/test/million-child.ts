// Stages many objects, then commits, diffs and merges them while another loop keeps asking for stats. Prints what it
// measured as one line of JSON.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRealEngine } from './real-engine.ts';

const [folder = '', count = '1000000'] = process.argv.slice(2);
const objects = Number(count);
const opened = await openRealEngine(folder);
const { engine } = opened;
const repository = 'million';
const actor = { committer: 'million' };

/** Memory that is ours: the mapped pages of the local store are left out. */
function anonymousMegabytes(): number {
  const line = /RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(line?.[1] ?? 0) / 1024;
}

let peak = 0;
const sampler = setInterval(() => {
  peak = Math.max(peak, anonymousMegabytes());
}, 20);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return Math.round(performance.now() - start);
}

/** Latencies of stats made one after the other until `work` has ended. */
async function statsDuring(work: () => Promise<unknown>): Promise<{ ms: number; p99: number }> {
  const state = { busy: true };
  const latencies: number[] = [];
  const stats = (async () => {
    while (state.busy) {
      const start = performance.now();
      await engine.objects.stat({ repository, ref: 'main', path: 'known' });
      latencies.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  })();
  const ms = await timed(work);
  state.busy = false;
  await stats;
  latencies.sort((left, right) => left - right);
  return { ms, p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0 };
}

await engine.repositories.create({ name: repository, storageNamespace: 'local://million', actor });
await engine.objects.upload({ repository, branch: 'main', path: 'known', body: Buffer.from('known') });
await engine.commits.create({ repository, branch: 'main', message: 'known', actor });
await engine.branches.create({ repository, name: 'side', source: 'main', actor });
await engine.branches.create({ repository, name: 'big', source: 'main', actor });

let next = 0;
const stagedIn = await timed(async () => {
  const writer = async (): Promise<void> => {
    while (next < objects) {
      const index = next;
      next += 1;
      await engine.objects.stage({
        repository,
        branch: 'big',
        path: `d${index % 1000}/f${Math.floor(index / 1000)}`,
        physicalAddress: `local://${join(folder, 'outside')}/f`,
        checksum: index.toString(16).padStart(32, '0'),
        size: index,
      });
    }
  };
  await Promise.all(Array.from({ length: 256 }, writer));
});
const commit = await statsDuring(() =>
  engine.commits.create({ repository, branch: 'big', message: 'million', actor }),
);
const diff = await timed(async () => {
  let after = '';
  for (;;) {
    const page = await engine.refs.diff({ repository, left: 'main', right: 'big', after, amount: 1000 });
    if (!page.hasMore) return;
    after = page.nextOffset;
  }
});
await engine.objects.upload({ repository, branch: 'side', path: 'd5/side', body: Buffer.from('1') });
await engine.commits.create({ repository, branch: 'side', message: 'side', actor });
const merge = await statsDuring(() =>
  engine.merges.merge({ repository, source: 'big', destination: 'side', actor }),
);
clearInterval(sampler);
const merged = await engine.objects.stat({
  repository,
  ref: 'side@',
  path: `d${(objects - 1) % 1000}/f${Math.floor((objects - 1) / 1000)}`,
});
process.stdout.write(
  JSON.stringify({
    objects,
    stagedIn,
    commit,
    diff,
    merge,
    peakMegabytes: Math.round(peak),
    lastSize: merged.size,
  }),
);
await opened.close();
