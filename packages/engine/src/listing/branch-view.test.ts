import { expect, test } from 'vitest';
import type { RecordIterator } from '../committed/tree.ts';
import { BranchView } from './branch-view.ts';

const damaged = new Error('a table is damaged');

test('a tree that fails at once leaves no failure of the changes behind that nobody hears of', async () => {
  const { promise, reject } = Promise.withResolvers<boolean>();
  const changes = { next: () => promise } as unknown as RecordIterator;
  const tree = {
    next: () => {
      throw damaged;
    },
  } as unknown as RecordIterator;
  const view = new BranchView(changes, tree);
  expect(() => view.next()).toThrow(damaged);
  reject(damaged);
  // An unhandled rejection fails the run.
  await new Promise(setImmediate);
});
