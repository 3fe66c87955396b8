import { client } from '../../lib/api.ts';
import type { DiffSource } from './diff-tree.tsx';

/** What a branch has that is not committed. */
export function uncommittedSource(repository: string, branch: string): DiffSource {
  return {
    key: ['uncommitted', repository, branch],
    repository,
    left: `${branch}@`,
    right: branch,
    load: (query) =>
      client.get('/repositories/{repository}/branches/{branch}/diff', {
        params: { path: { repository, branch }, query },
      }),
  };
}

export type DiffMode = 'three_dot' | 'two_dot';

/** What `right` has that `left` lacks: since they parted, or as they are now. */
export function refsSource(
  repository: string,
  left: string,
  right: string,
  type: DiffMode = 'three_dot',
): DiffSource {
  return {
    key: ['refs', repository, left, right, type],
    repository,
    left,
    right,
    load: (query) =>
      client.get('/repositories/{repository}/refs/{leftRef}/diff/{rightRef}', {
        params: {
          path: { repository, leftRef: left, rightRef: right },
          query: { ...query, type, include_right_stats: true },
        },
      }),
  };
}

/** Everything of a first commit is new. */
export function rootSource(repository: string, commit: string): DiffSource {
  return {
    key: ['root', repository, commit],
    repository,
    left: '',
    right: commit,
    async load(query) {
      const { pagination, results } = await client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
        params: { path: { repository, ref: commit }, query },
      });
      return {
        pagination,
        results: results.map(({ path, path_type, size_bytes }) => ({
          type: 'added' as const,
          path,
          path_type,
          ...(size_bytes !== undefined && { size_bytes }),
        })),
      };
    },
  };
}
