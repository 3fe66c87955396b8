import { describe, expect, it } from 'vitest';
import { findActiveCommits, type RetentionCommit } from './active-commits.ts';

const day = 86_400;
const now = 1_700_000_000;

/** `age` in days, as in the acceptance cases: id, age, main parent. */
function commit(id: string, age: number, mainParent?: string): RetentionCommit {
  return { id, createdAt: now - age * day, mainParent };
}

function active(
  commits: RetentionCommit[],
  heads: Record<string, number>,
  options: { defaultDays?: number; tagged?: string[] } = {},
): string[] {
  return [
    ...findActiveCommits({
      commits,
      heads: Object.entries(heads).map(([commitId, retentionDays]) => ({ commitId, retentionDays })),
      tagged: options.tagged ?? [],
      defaultRetentionDays: options.defaultDays ?? 5,
      now,
    }),
  ].sort();
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

  it('[fix] keeps a tagged commit whatever its age', () => {
    expect(active(twoBranches, { f: 7, d: 3 }, { tagged: ['a'] })).toEqual(['a', 'b', 'd', 'e', 'f']);
  });

  it('uses the longest retention when branches share a head', () => {
    const chain = [commit('root', 20), commit('x', 10, 'root')];
    const input = {
      commits: chain,
      heads: [
        { commitId: 'x', retentionDays: 30 },
        { commitId: 'x', retentionDays: 1 },
      ],
      tagged: [],
      defaultRetentionDays: 1,
      now,
    };
    expect([...findActiveCommits(input)].sort()).toEqual(['root', 'x']);
  });
});
