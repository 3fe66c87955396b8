import { median, timed } from '../driver/api.ts';
import { randomKey, type Bench } from './bench.ts';

const rounds = 9;
const small = Buffer.alloc(100, 'x');

/** Commit, diff, merge and log of small changes in the whole tree, one client, median of some rounds. */
export async function measureHistory(bench: Bench): Promise<void> {
  const { api, repository, report } = bench;
  const base = `/repositories/${repository}`;
  const commit = (branch: string) =>
    api.call('POST', `${base}/branches/${branch}/commits`, { message: 'change' });
  const branchFromMain = (name: string) => api.call('POST', `${base}/branches`, { name, source: 'main' });
  const goals = bench.fullSize;

  await branchFromMain('one');
  const commits: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await api.upload(repository, 'one', `${randomKey(bench)}x${round}`, small);
    commits.push((await timed(() => commit('one'))).milliseconds);
  }
  report.add({ scenario: 'commit 1 change', value: median(commits), unit: 'ms', ...(goals && { goal: 60 }) });

  const diffs: number[] = [];
  const again: number[] = [];
  const merges: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const name = `m${Date.now()}${round}`;
    await branchFromMain(name);
    for (let change = 0; change < 3; change += 1) {
      await api.upload(repository, name, `${randomKey(bench)}m${round}${change}`, small);
    }
    await commit(name);
    const diff = () => api.call('GET', `${base}/refs/main/diff/${name}?amount=100`);
    diffs.push((await timed(diff)).milliseconds);
    again.push((await timed(diff)).milliseconds);
    merges.push((await timed(() => api.call('POST', `${base}/refs/${name}/merge/main`, {}))).milliseconds);
  }
  report.add({
    scenario: 'diff 3 changes, first time',
    value: median(diffs),
    unit: 'ms',
    ...(goals && { goal: 60 }),
  });
  report.add({ scenario: 'diff 3 changes, repeated', value: median(again), unit: 'ms', goal: 5 });
  report.add({ scenario: 'merge, one side moved', value: median(merges), unit: 'ms', goal: 2 });

  const both: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const name = `w${Date.now()}${round}`;
    await branchFromMain(name);
    for (const side of [name, 'main']) {
      const folder = randomKey(bench).slice(0, 5);
      await api.upload(repository, side, `d0000/${side}${round}${folder}`, small);
      await commit(side);
    }
    both.push((await timed(() => api.call('POST', `${base}/refs/${name}/merge/main`, {}))).milliseconds);
  }
  report.add({
    scenario: 'merge, both sides moved in one range',
    value: median(both),
    unit: 'ms',
    ...(goals && { goal: 60 }),
  });

  for (let index = 0; index < 300; index += 1) {
    const body = { message: `empty ${index}`, allow_empty: true };
    await api.call('POST', `${base}/branches/one/commits`, body);
  }
  const logs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    logs.push((await timed(() => api.call('GET', `${base}/refs/one/commits?amount=300`))).milliseconds);
  }
  report.add({ scenario: 'log of 300 commits', value: median(logs), unit: 'ms', goal: 3 });
}
