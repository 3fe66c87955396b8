import { expect, test } from 'vitest';
import { openApiDocument, operations } from '../src/index.ts';
import type { Operation } from '../src/index.ts';

const all: Operation[] = Object.values(operations);

test('every read is idempotent, and nothing that makes a commit is', () => {
  const reads = all.filter(({ method }) => method === 'GET' || method === 'HEAD');
  expect(reads.filter(({ idempotent }) => !idempotent)).toEqual([]);
  const commits = [
    operations.commit,
    operations.mergeIntoBranch,
    operations.revertBranch,
    operations.cherryPick,
    operations.importStart,
    operations.mergePullRequest,
  ];
  expect(commits.filter(({ idempotent }) => idempotent)).toEqual([]);
  // `main~1` names another commit once the branch has moved.
  expect(operations.hardResetBranch.idempotent).toBe(false);
});

test('the document names the idempotent writes', () => {
  const { paths } = openApiDocument('0');
  expect(paths['/repositories/{repository}/branches/{branch}/objects']).toMatchObject({
    post: { 'x-idempotent': true },
    delete: { 'x-idempotent': true },
  });
  expect(paths['/repositories']?.['post']).not.toHaveProperty('x-idempotent');
  expect(paths['/repositories']?.['get']).not.toHaveProperty('x-idempotent');
});
