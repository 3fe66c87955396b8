import { timed } from '../driver/api.ts';
import { runLoad, type LoadResult } from '../driver/http-load.ts';
import {
  commit,
  createBranch,
  folderOf,
  randomIndex,
  randomKey,
  stageMany,
  withPeakMemory,
  type Bench,
} from './bench.ts';

const readers = 8;
const shortRun = 200_000;

/** One commit of as many new keys as the tree has, spread over all of it, and what readers notice of it. */
export async function measureBigCommit(bench: Bench): Promise<void> {
  const { requests, report } = bench;
  const count = bench.fullSize ? bench.objects : Math.min(bench.objects, shortRun);
  await createBranch(bench, 'big');
  const staged = await stageMany(bench, count, (sequence) =>
    requests.stage('big', `${folderOf(randomIndex(bench))}/g${sequence}`),
  );
  report.add({ scenario: `stage ${count} keys over the tree`, value: staged.perSecond, unit: '/s' });

  reportReads(bench, 'quiet', await read(bench, bench.seconds));
  // The rest of what is measured next was there before: caches, and what earlier scenarios left to the collector.
  if (bench.memory !== undefined)
    report.add({ scenario: 'memory before the big commit', value: bench.memory.now(), unit: 'MB' });
  const committed = new AbortController();
  const reading = read(bench, 3600, committed.signal);
  const { milliseconds } = await withPeakMemory(bench, 'the big commit', () =>
    timed(() => commit(bench, 'big')).finally(() => {
      committed.abort();
    }),
  );
  reportReads(bench, 'during the big commit', await reading);
  report.add({
    scenario: `commit ${count} keys over the tree`,
    value: milliseconds / 1000,
    unit: 's',
    ...(bench.fullSize && { goal: 4.5 }),
  });
}

function read(bench: Bench, seconds: number, signal?: AbortSignal): Promise<LoadResult> {
  return runLoad({
    endpoint: bench.api.endpoint,
    connections: readers,
    seconds,
    ...(signal !== undefined && { signal }),
    next: () => bench.requests.stat('main', randomKey(bench)),
  });
}

function reportReads(bench: Bench, when: string, result: LoadResult): void {
  const { p50, p99, max, errors } = result;
  bench.report.add({
    scenario: `stat p99, ${readers} clients, ${when}`,
    value: p99,
    unit: 'ms',
    p50,
    max,
    errors,
  });
}
