import { timed } from '../driver/api.ts';
import type { NextRequest } from '../driver/http-load.ts';
import { commit, createBranch, load, loadAlone, randomKey, stageMany, type Bench } from './bench.ts';

const newKeys = 59_000;

/** Branch creation and staged writes, by many clients and by one, and a commit of many new keys. */
export async function measureWrites(bench: Bench): Promise<void> {
  await measureBranchCreation(bench);
  await measureStaging(bench);
  await load(bench, {
    scenario: 'stat on a branch with staged writes',
    goal: 13_000,
    next: () => bench.requests.stat(`stage${bench.pass}`, randomKey(bench)),
  });
  const count = Math.min(newKeys, bench.objects);
  await createBranch(bench, 'new');
  await stageMany(bench, count, stageNew(bench, 'new', 'n'));
  const { milliseconds } = await timed(() => commit(bench, 'new'));
  bench.report.add({
    scenario: `commit ${count} staged new keys`,
    value: milliseconds,
    unit: 'ms',
    ...(count === newKeys && { goal: 250 }),
  });
}

export async function measureBranchCreation(bench: Bench): Promise<void> {
  const named =
    (prefix: string): NextRequest =>
    (sequence) =>
      bench.requests.createBranch(`${prefix}${bench.pass}-${sequence}`);
  await load(bench, { scenario: 'create branch', goal: 12_000, next: named('many') });
  await loadAlone(bench, { scenario: 'create branch', goal: 1, next: named('one') });
}

/** Leaves the branch `stage` with what it wrote. */
export async function measureStaging(bench: Bench): Promise<void> {
  const branch = `stage${bench.pass}`;
  await createBranch(bench, branch);
  await load(bench, { scenario: 'stage write', goal: 15_000, next: stageNew(bench, branch, 's') });
  await loadAlone(bench, { scenario: 'stage write', goal: 0.8, next: stageNew(bench, branch, 't') });
}

function stageNew(bench: Bench, branch: string, prefix: string): NextRequest {
  return (sequence) =>
    bench.requests.stage(branch, `${prefix}/${Math.floor(Math.random() * 1e9)}.${sequence}`);
}
