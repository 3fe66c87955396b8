// What hook points cost a repository without action files: commits of one change, with and without them in turns.
// Usage: node bench/src/hooks-bench.ts [commits] [objects] [nosync]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ActionHooks } from '@svc/actions';
import { openBlockStores } from '@svc/block';
import { openEngine, type Engine } from '@svc/engine';
import { LocalCacheBus, openStore } from '@svc/kv';
import { writeRepository } from './bench-engine.ts';
import { randomKey } from './scenarios/bench.ts';

const commits = Number(process.argv[2] ?? 2000);
const objects = Number(process.argv[3] ?? 100_000);
// Without syncing, what is left is the work itself.
const syncWrites = process.argv[4] !== 'nosync';
const repository = 'bench';
const actor = { committer: 'bench' };
const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

async function open(folder: string, isHooked: boolean) {
  const kv = await openStore({ type: 'local', path: join(folder, 'kv'), syncWrites });
  const blockStores = await openBlockStores([{ type: 'local', path: join(folder, 'objects') }]);
  let opened: Engine | undefined;
  const hooks = new ActionHooks({
    kv,
    blockStores,
    engine: () => {
      if (opened === undefined) throw new Error('the engine is not open yet');
      return opened;
    },
    makeHook: () => {
      throw new Error('there are no hooks');
    },
    logger: quiet,
  });
  const { engine, trees } = await openEngine({
    kv,
    blockStores,
    cacheBus: new LocalCacheBus(),
    signingSecret: 'bench',
    cacheDir: join(folder, 'cache'),
    hooks: isHooked ? hooks : undefined,
  });
  opened = engine;
  const close = async (): Promise<void> => {
    await engine.close();
    await blockStores.close();
    await kv.close();
  };
  await writeRepository({ engine, trees, close }, { repository, objects });
  const times: number[] = [];
  let cpu = 0;
  return {
    times,
    cpu: () => cpu / times.length,
    close,
    async commit(path: string): Promise<void> {
      await engine.objects.upload({
        repository,
        branch: 'main',
        path,
        body: Buffer.from(String(Math.random())),
      });
      const used = process.cpuUsage();
      const start = performance.now();
      await engine.commits.create({ repository, branch: 'main', message: 'one', actor });
      times.push(performance.now() - start);
      const { user, system } = process.cpuUsage(used);
      cpu += user + system;
    },
    reset(): void {
      times.length = 0;
      cpu = 0;
    },
  };
}

const folder = mkdtempSync(join(tmpdir(), 'hooks-bench-'));
const without = await open(join(folder, 'without'), false);
const hooked = await open(join(folder, 'hooked'), true);
const round = async (index: number): Promise<void> => {
  const path = randomKey({ objects });
  const pair = index % 2 === 0 ? [without, hooked] : [hooked, without];
  for (const one of pair) await one.commit(path);
};
for (let index = 0; index < 200; index += 1) await round(index);
without.reset();
hooked.reset();
for (let index = 0; index < commits; index += 1) await round(index);
const quantile = (times: readonly number[], part: number): number =>
  times.toSorted((left, right) => left - right)[Math.floor(times.length * part)] ?? 0;
for (const [name, one] of Object.entries({ without, hooked })) {
  const parts = [0.1, 0.5, 0.9].map((part) => quantile(one.times, part).toFixed(3)).join(' / ');
  console.log(`${name.padEnd(8)} p10/p50/p90 ${parts} ms, ${one.cpu().toFixed(0)} µs CPU`);
}
const change = (part: number): string =>
  `${((quantile(hooked.times, part) / quantile(without.times, part) - 1) * 100).toFixed(1)} %`;
console.log(`more with hook points: p10 ${change(0.1)}, p50 ${change(0.5)}, p90 ${change(0.9)}`);
await without.close();
await hooked.close();
rmSync(folder, { recursive: true, force: true });
