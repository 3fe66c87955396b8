// What the engine itself costs on local stores, in one process and for staging in two, against the numbers a server
// needs room for.
// Usage: node bench/src/engine-bench.ts [objects] [folder]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBenchEngine, writeRepository } from './bench-engine.ts';
import type { StagedAnswer, StageLoad } from './engine-stage-load.ts';
import { keyOf, randomIndex, randomKey } from './scenarios/bench.ts';

const objects = Number(process.argv[2] ?? 1_000_000);
const folder = process.argv[3] ?? mkdtempSync(join(tmpdir(), 'engine-bench-'));
const repository = 'bench';
const actor = { committer: 'bench' };
const opened = await openBenchEngine({
  metadata: join(folder, 'kv'),
  block: join(folder, 'objects'),
  cache: join(folder, 'cache'),
  allowedExternalPrefixes: [join(folder, 'outside')],
});
const { engine } = opened;

interface Line {
  readonly scenario: string;
  readonly result: string;
  readonly goal: string;
}

const lines: Line[] = [];

function report(scenario: string, result: string, goal: string): void {
  lines.push({ scenario, result, goal });
  console.log(`${scenario.padEnd(44)} ${result.padEnd(34)} ${goal}`);
}

/** Runs `call` from `clients` loops for a while; best rate of three. */
async function rate(
  scenario: string,
  goal: string,
  clients: number,
  call: (index: number) => Promise<unknown>,
): Promise<void> {
  let best = 0;
  let cpuMicros = 0;
  let next = 0;
  for (let run = 0; run < 3; run += 1) {
    const cpu = process.cpuUsage();
    const start = performance.now();
    const until = start + 1500;
    let calls = 0;
    const loop = async (): Promise<void> => {
      while (performance.now() < until) {
        next += 1;
        calls += 1;
        await call(next);
      }
    };
    await Promise.all(Array.from({ length: clients }, loop));
    const perSecond = calls / ((performance.now() - start) / 1000);
    const used = process.cpuUsage(cpu);
    if (perSecond > best) {
      best = perSecond;
      cpuMicros = (used.user + used.system) / calls;
    }
  }
  const each = clients === 1 ? `, ${(1000 / best).toFixed(3)} ms` : '';
  report(`${scenario} ×${clients}`, `${Math.round(best)}/s${each}, ${cpuMicros.toFixed(0)} µs CPU`, goal);
}

async function timed(call: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await call();
  return performance.now() - start;
}

/** Median of several runs. */
async function median(runs: number, call: (run: number) => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) times.push(await call(run));
  return times.sort((left, right) => left - right)[runs >> 1] ?? 0;
}

const random = (): string => randomKey({ objects });

const built = await timed(() => writeRepository(opened, { repository, objects }));
report(`write a tree of ${objects} objects`, `${(built / 1000).toFixed(2)} s`, '');

const head = (await engine.branches.get({ repository, branch: 'main' })).commitId;
await rate('stat, commit', '', 64, () => engine.objects.stat({ repository, ref: head, path: random() }));
await rate('stat, branch', '>= 15000/s by two processes', 64, () =>
  engine.objects.stat({ repository, ref: 'main', path: random() }),
);
await rate('list 1000, visited', '>= 900/s by two processes', 8, async () => {
  const page = await engine.objects.list({ repository, ref: 'main', after: random(), amount: 1000 });
  let sum = 0;
  page.visit((item) => {
    sum += item.path.length + item.physicalAddress.length + item.etag.length + item.size + item.mtime.seconds;
  });
  return sum;
});
await rate('list 100', '>= 6000/s by two processes', 8, () =>
  engine.objects.list({ repository, ref: 'main', after: random(), amount: 100 }),
);
const createBranch = (index: number): Promise<unknown> =>
  engine.branches.create({ repository, name: `b${index}-${process.pid}`, source: 'main', actor });
await rate('create branch', '>= 12000/s', 64, createBranch);
await rate('create branch, alone', '<= 1 ms', 1, (index) => createBranch(10_000_000 + index));
await engine.branches.create({ repository, name: 'stage', source: 'main', actor });
let stagedKeys = 0;
const stage = (path: string): Promise<unknown> => {
  stagedKeys += 1;
  return engine.objects.stage({
    repository,
    branch: 'stage',
    path,
    physicalAddress: `local://${join(folder, 'outside')}/d0000/f0001`,
    checksum: '0123456789abcdef0123456789abcdef',
    size: 1234,
  });
};
await rate('stage', '', 64, (index) => stage(`s/${Math.floor(Math.random() * 1e9)}.${index}`));
const load: StageLoad = { folder, repository, branch: 'stage', writers: 32, seconds: 3 };
const answers = await Promise.all(
  [1, 2].map(async () => {
    const child = fork(join(import.meta.dirname, 'engine-stage-load.ts'));
    child.send(load);
    const [answer] = (await once(child, 'message')) as [StagedAnswer];
    return answer;
  }),
);
const sum = (of: (answer: StagedAnswer) => number): number =>
  answers.reduce((total, answer) => total + of(answer), 0);
report(
  'stage, two processes, ×32 each',
  `${Math.round(sum((answer) => answer.perSecond))}/s, ${(sum((answer) => answer.cpuMicros) / 2).toFixed(0)} µs CPU`,
  '>= 15000/s',
);
stagedKeys += sum((answer) => answer.staged);
await rate('stage, alone', '<= 0.8 ms', 1, (index) => stage(`t/${index}`));
await rate('stat, branch with staged writes', '>= 13000/s by two processes', 64, () =>
  engine.objects.stat({ repository, ref: 'stage', path: random() }),
);
const staged = await timed(async () => {
  await engine.commits.create({ repository, branch: 'stage', message: 'staged', actor });
});
report(
  'commit the staged writes',
  `${staged.toFixed(0)} ms for ${stagedKeys}, ${((staged * 59_000) / stagedKeys).toFixed(0)} per 59000`,
  '<= 250 ms per 59000',
);

const one = (branch: string, path: string): Promise<unknown> =>
  engine.objects.upload({ repository, branch, path, body: Buffer.alloc(100, path) });
await engine.branches.create({ repository, name: 'c1', source: 'main', actor });
const commitOne = await median(15, async (run) => {
  await one('c1', `${random()}x${run}`);
  return timed(() => engine.commits.create({ repository, branch: 'c1', message: `c${run}`, actor }));
});
report('commit 1 change', `${commitOne.toFixed(1)} ms`, '<= 60 ms');

const firstDiff: number[] = [];
const mergeOne: number[] = [];
const mergeApart: number[] = [];
const mergeOneRange: number[] = [];
/** So many keys, from the n-th on. */
interface KeySpan {
  readonly objects: number;
  readonly from: number;
}
/** Branches `side-NAME` and `NAME` from main, each with a commit of three objects among these. */
const part = async (name: string, side: KeySpan, other: KeySpan): Promise<void> => {
  for (const [branch, span] of [
    [`side-${name}`, side],
    [name, other],
  ] as const) {
    await engine.branches.create({ repository, name: branch, source: 'main', actor });
    for (let index = 0; index < 3; index += 1)
      await one(branch, `${keyOf(span.from + randomIndex(span))}${branch}${index}`);
    await engine.commits.create({ repository, branch, message: branch, actor });
  }
};
const mergeOf = (source: string, destination: string): Promise<number> =>
  timed(() => engine.merges.merge({ repository, source, destination, actor }));
const half = objects / 2;
const low = { objects: half, from: 0 };
const high = { objects: half, from: half };
const again = await median(25, async (run) => {
  const name = `m${run}`;
  await part(name, low, high);
  const diff = { repository, left: 'main', right: name, amount: 1000 };
  firstDiff.push(await timed(() => engine.refs.diff(diff)));
  const repeated = await timed(() => engine.refs.diff(diff));
  await engine.branches.create({ repository, name: `into-${name}`, source: 'main', actor });
  mergeOne.push(await mergeOf(name, `into-${name}`));
  mergeApart.push(await mergeOf(`side-${name}`, name));
  return repeated;
});
const oneFolder = { objects: 1000, from: half };
for (let run = 0; run < 9; run += 1) {
  await part(`r${run}`, oneFolder, oneFolder);
  mergeOneRange.push(await mergeOf(`side-r${run}`, `r${run}`));
}
const middle = (times: number[]): string =>
  `${(times.sort((left, right) => left - right)[times.length >> 1] ?? 0).toFixed(1)} ms`;
report('diff 3 changes, first time', middle(firstDiff), '<= 60 ms');
report('diff 3 changes, again', `${again.toFixed(1)} ms`, '<= 5 ms');
report('merge, one side moved', middle(mergeOne), '<= 2 ms');
report('merge, both sides moved, different ranges', middle(mergeApart), '<= 2 ms');
report('merge, both sides moved in one range', middle(mergeOneRange), '<= 60 ms');
for (let index = 0; index < 300; index += 1) {
  const message = `e${index}`;
  await engine.commits.create({
    repository,
    branch: 'c1',
    message,
    metadata: { n: message },
    allowEmpty: true,
    actor,
  });
}
const log = await median(15, () => timed(() => engine.commits.log({ repository, ref: 'c1', amount: 1000 })));
report('log of 300 commits', `${log.toFixed(1)} ms`, '<= 3 ms');
console.log(JSON.stringify({ objects, rssMiB: Math.round(process.memoryUsage().rss / 1024 ** 2), lines }));

await opened.close();
if (process.argv[3] === undefined) rmSync(folder, { recursive: true, force: true });
