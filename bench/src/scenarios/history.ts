import { median, timed } from '../driver/api.ts';
import { calibrateNow, commit, createBranch, folderOf, randomIndex, randomKey, type Bench } from './bench.ts';

const rounds = 9;
const small = Buffer.alloc(100, 'x');

/** Commit, diff, merge and log of small changes in the whole tree, one client, median of some rounds. */
export async function measureHistory(bench: Bench): Promise<void> {
  await measureCommitOne(bench);
  await calibrateNow(bench);
  await measureDiff(bench);
  await calibrateNow(bench);
  await measureMergeBoth(bench, 'in different ranges');
  await calibrateNow(bench);
  await measureMergeBoth(bench, 'in one range');
  await calibrateNow(bench);
  await measureLog(bench);
  await calibrateNow(bench);
}

/** Leaves the branch `one`. */
export async function measureCommitOne(bench: Bench): Promise<void> {
  const branch = `one${bench.pass}`;
  await createBranch(bench, branch);
  const commits: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await upload(bench, branch, `${randomKey(bench)}x${round}`);
    commits.push((await timed(() => commit(bench, branch))).milliseconds);
  }
  addMedian(bench, 'commit 1 change', commits, bench.fullSize ? 60 : undefined);
}

export async function measureDiff(bench: Bench): Promise<void> {
  const { api, repository } = bench;
  const first: number[] = [];
  const again: number[] = [];
  const merges: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const name = `diff${bench.pass}${round}`;
    await createBranch(bench, name);
    for (let change = 0; change < 3; change += 1) {
      await upload(bench, name, `${randomKey(bench)}m${round}${change}`);
    }
    await commit(bench, name);
    const diff = () => api.call('GET', `/repositories/${repository}/refs/main/diff/${name}?amount=100`);
    first.push((await timed(diff)).milliseconds);
    again.push((await timed(diff)).milliseconds);
    merges.push((await timed(() => merge(bench, name))).milliseconds);
  }
  addMedian(bench, 'diff 3 changes, first time', first, bench.fullSize ? 60 : undefined);
  addMedian(bench, 'diff 3 changes, repeated', again, 5);
  addMedian(bench, 'merge, one side moved', merges, 2);
}

/** Small trees are one range, whatever was asked for, so only large ones have a goal for different ranges. */
export async function measureMergeBoth(
  bench: Bench,
  where: 'in one range' | 'in different ranges',
): Promise<void> {
  const together = where === 'in one range';
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const name = `${together ? 'one-range' : 'ranges'}${bench.pass}${round}`;
    const index = randomIndex(bench);
    const far = (index + Math.floor(bench.objects / 2)) % bench.objects;
    await createBranch(bench, name);
    await upload(bench, name, `${folderOf(index)}/${name}`);
    await commit(bench, name);
    await upload(bench, 'main', `${folderOf(together ? index : far)}/main-${name}`);
    await commit(bench, 'main');
    times.push((await timed(() => merge(bench, name))).milliseconds);
  }
  const goal = together ? 60 : 2;
  addMedian(bench, `merge, both sides moved ${where}`, times, bench.fullSize ? goal : undefined);
}

/** After 300 more commits; of `main`, which has those of the merges too, all that there are. */
async function measureLog(bench: Bench): Promise<void> {
  const { api, repository } = bench;
  const onMain = bench.objectStore !== undefined;
  const branch = onMain ? 'main' : `one${bench.pass}`;
  for (let index = 0; index < 300; index += 1) {
    const body = { message: `empty ${index}`, metadata: { n: String(index) }, allow_empty: true };
    await api.call('POST', `/repositories/${repository}/branches/${branch}/commits`, body);
  }
  const amount = onMain ? 1000 : 300;
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const log = () => api.call('GET', `/repositories/${repository}/refs/${branch}/commits?amount=${amount}`);
    times.push((await timed(log)).milliseconds);
  }
  addMedian(bench, onMain ? 'log of 1000 commits at most' : 'log of 300 commits', times, 3);
}

function upload(bench: Bench, branch: string, key: string): Promise<unknown> {
  return bench.api.upload(bench.repository, branch, key, small);
}

function merge(bench: Bench, source: string): Promise<unknown> {
  return bench.api.call('POST', `/repositories/${bench.repository}/refs/${source}/merge/main`, {});
}

function addMedian(bench: Bench, scenario: string, times: number[], goal: number | undefined): void {
  bench.report.add({ scenario, value: median(times), unit: 'ms', ...(goal !== undefined && { goal }) });
}
