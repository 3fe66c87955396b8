import { describe, expect, it } from 'vitest';
import { findActiveCommits } from './active-commits.ts';
import { CommitTable } from './commit-table.ts';

const day = 86_400;
const now = 1_700_000_000;

interface TestCommit {
  readonly id: string;
  readonly createdAt: number;
  readonly mainParent: string | undefined;
}

/** `age` in days, as in the acceptance cases: id, age, main parent. */
function commit(id: string, age: number, mainParent?: string): TestCommit {
  return { id, createdAt: now - age * day, mainParent };
}

const hexOf = (name: string): string => Buffer.from(name).toString('hex').padEnd(64, '0');

interface Situation {
  readonly defaultDays?: number;
  readonly tagged?: string[];
  /** Commits that were recorded while the refs were read. */
  readonly recent?: TestCommit[];
}

function active(
  commits: TestCommit[],
  heads: Record<string, number> | [string, number][],
  { defaultDays = 5, tagged = [], recent = [] }: Situation = {},
): string[] {
  const inOrder = (list: TestCommit[]): TestCommit[] =>
    list.toSorted((left, right) => (hexOf(left.id) < hexOf(right.id) ? -1 : 1));
  const table = new CommitTable();
  for (const { id } of inOrder(commits)) table.addKnown(hexOf(id));
  const all = inOrder([...commits, ...recent]);
  for (const { id, createdAt, mainParent } of all) {
    table.add(hexOf(id), createdAt, mainParent === undefined ? undefined : hexOf(mainParent));
  }
  table.finish();
  const days = Array.isArray(heads) ? heads : Object.entries(heads);
  const marks = findActiveCommits({
    commits: table,
    heads: days.map(([commitId, retentionDays]) => ({ commitId: hexOf(commitId), retentionDays })),
    tagged: tagged.map(hexOf),
    defaultRetentionDays: defaultDays,
    now,
  });
  return all
    .map(({ id }) => id)
    .filter((id) => marks[table.next(hexOf(id))] === 1)
    .sort();
}

const twoBranches = [
  commit('a', 15),
  commit('b', 10, 'a'),
  commit('e', 5, 'b'),
  commit('f', 1, 'e'),
  commit('c', 10, 'a'),
  commit('d', 5, 'c'),
];

describe('findActiveCommits', () => {
  it('keeps what was a head of its branch within the branch’s days', () => {
    expect(active(twoBranches, { f: 7, d: 3 })).toEqual(['b', 'd', 'e', 'f']);
  });

  it('keeps dangling histories by the default days', () => {
    const dangling = [...twoBranches, commit('g', 8, 'c'), commit('h', 7, 'g')];
    expect(active([...dangling, commit('i', 4, 'h')], { f: 7, d: 3 })).toEqual([
      'b',
      'd',
      'e',
      'f',
      'h',
      'i',
    ]);
    expect(active([...dangling, commit('i', 6, 'h')], { f: 7, d: 3 })).toEqual(['b', 'd', 'e', 'f']);
  });

  it('walks on below a commit that another head reached with fewer days', () => {
    const chain = [
      commit('root', 20),
      commit('x', 14, 'root'),
      commit('head2', 10, 'x'),
      commit('head1', 9, 'head2'),
    ];
    expect(active(chain, { head2: 12, head1: 9 })).toEqual(['head1', 'head2', 'x']);
  });

  it('keeps a tagged commit whatever its age', () => {
    expect(active(twoBranches, { f: 7, d: 3 }, { tagged: ['a'] })).toEqual(['a', 'b', 'd', 'e', 'f']);
  });

  it('uses the longest retention when branches share a head', () => {
    const chain = [commit('root', 20), commit('x', 10, 'root')];
    const heads: [string, number][] = [
      ['x', 30],
      ['x', 1],
    ];
    expect(active(chain, heads, { defaultDays: 1 })).toEqual(['root', 'x']);
  });

  it('keeps a former head although an older history branched off from it', () => {
    // `a` is walked first, from a leaf that was made long ago.
    const commits = [
      commit('root', 30),
      commit('base', 20, 'root'),
      commit('a', 19, 'base'),
      commit('z', 1, 'base'),
    ];
    expect(active(commits, { z: 5 })).toEqual(['base', 'z']);
  });

  it('keeps whatever was recorded since it began, whatever date it carries', () => {
    const chain = [commit('root', 30), commit('x', 20, 'root')];
    const recent = [commit('n', 25, 'x'), commit('a', 24, 'n'), commit('zz', 23, 'missing')];
    expect(active(chain, { a: 1 }, { recent })).toEqual(['a', 'n', 'zz']);
  });
});
