import { expect, test } from 'vitest';
import { diffTables, guessKey } from './table-diff.ts';
import type { Table } from './table-diff.ts';

const table = (columns: string[], ...rows: unknown[][]): Table => ({
  columns: columns.map((name) => ({ name, type: 'x' })),
  rows,
});

test('rows are matched by their key: changed cells, added and removed rows', () => {
  const before = table(['id', 'name'], [1, 'one'], [2, 'two'], [3, 'three']);
  const after = table(['id', 'name'], [1n, 'one'], [2, 'zwei'], [4, 'four']);
  const { rows, counts, unchanged } = diffTables(before, after, ['id']);
  expect(counts).toEqual({ added: 1, removed: 1, changed: 1 });
  expect(unchanged).toBe(1);
  expect(rows).toEqual([
    { change: 'changed', cells: [2, 'zwei'], before: new Map([[1, 'two']]) },
    { change: 'added', cells: [4, 'four'], before: new Map() },
    { change: 'removed', cells: [3, 'three'], before: new Map() },
  ]);
});

test('a column on one side only changes the columns, not every row', () => {
  const before = table(['id', 'old'], [1, 'x']);
  const after = table(['id', 'new'], [1, 'y']);
  const { columns, columnChanges, counts, unchanged } = diffTables(before, after, ['id']);
  expect(columns.map(({ name }) => name)).toEqual(['id', 'new', 'old']);
  expect(columnChanges.map(({ name, change }) => `${change} ${name}`)).toEqual(['added new', 'removed old']);
  expect([counts.changed, unchanged]).toEqual([0, 1]);
});

test('without a key rows are the same when all their cells are, each as often as it stands there', () => {
  const before = table(['a'], [1], [1], [2]);
  const after = table(['a'], [1], [2], [2]);
  expect(guessKey(before, after)).toEqual([]);
  expect(diffTables(before, after, []).counts).toEqual({ added: 1, removed: 1, changed: 0 });
});

test('the key is the first column whose values are all different on both sides', () => {
  const before = table(['kind', 'id'], ['a', 1], ['a', 2]);
  const after = table(['kind', 'id'], ['a', 1], ['b', 3]);
  expect(guessKey(before, after)).toEqual(['id']);
});
