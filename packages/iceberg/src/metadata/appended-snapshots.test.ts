import { expect, it } from 'vitest';
import { appendedSnapshots, summaryAfter } from './appended-snapshots.ts';
import { emptyMetadata, type Snapshot, type TableMetadata } from './table-metadata.ts';

const snapshot = (id: number, parent?: number, operation = 'append'): Snapshot => ({
  'snapshot-id': id,
  ...(parent !== undefined && { 'parent-snapshot-id': parent }),
  'timestamp-ms': id,
  summary: { operation },
});

function table(snapshots: readonly Snapshot[], more: Partial<TableMetadata> = {}): TableMetadata {
  const current = snapshots.at(-1)?.['snapshot-id'];
  return {
    ...emptyMetadata('00000000-0000-0000-0000-000000000000'),
    snapshots: [...snapshots],
    ...(current !== undefined && {
      'current-snapshot-id': current,
      refs: { main: { 'snapshot-id': current, type: 'branch' } },
    }),
    ...more,
  };
}

const base = table([snapshot(1), snapshot(2, 1)]);
const old = base.snapshots;

it('finds the appends since the base, oldest first', () => {
  expect(appendedSnapshots('dev', base, table([...old, snapshot(3, 2), snapshot(4, 3)]))).toEqual([
    snapshot(3, 2),
    snapshot(4, 3),
  ]);
  expect(appendedSnapshots('dev', table([]), table([snapshot(1)]))).toEqual([snapshot(1)]);
  expect(appendedSnapshots('dev', base, base)).toEqual([]);
});

it.each([
  [
    'dev did more than append: snapshot 3 is of kind "overwrite"',
    table([...old, snapshot(3, 2, 'overwrite')]),
  ],
  ['dev rolled the table back', table(old, { 'current-snapshot-id': 1 })],
  ['dev rolled the table back', table([...old, snapshot(3, 1)])],
  ['dev rolled the table back', table([...old, snapshot(3, 3)])],
  ['dev rolled the table back', table([...old, snapshot(3)])],
  ['dev removed the snapshot 1', table([snapshot(2, 1), snapshot(3, 2)])],
  ['dev has snapshots that are not part', table([...old, snapshot(9, 2), snapshot(3, 2)])],
  ['dev changed the properties', table([...old, snapshot(3, 2)], { properties: { a: 'b' } })],
  ['dev changed the current-schema-id', table([...old, snapshot(3, 2)], { 'current-schema-id': 3 })],
  ['dev changed the table-uuid', table(old, { 'table-uuid': 'another' })],
  ['dev changed the refs', table(old, { refs: { ...base.refs, kept: { 'snapshot-id': 1, type: 'tag' } } })],
])('refuses anything else: %s', (message, now) => {
  expect(() => appendedSnapshots('dev', base, now)).toThrow(message);
});

it('adds up the totals of a summary, as far as they are known', () => {
  const summary = {
    operation: 'append',
    'added-records': '5',
    'total-records': '99',
    'total-data-files': '9',
  };
  const before = { ...snapshot(1), summary: { 'total-records': '10' } };
  expect(summaryAfter(before, { ...snapshot(2), summary })).toEqual({
    operation: 'append',
    'added-records': '5',
    'total-records': '15',
  });
  expect(summaryAfter(undefined, { ...snapshot(2), summary })).toMatchObject({
    'total-records': '5',
    'total-data-files': '0',
    'total-delete-files': '0',
  });
});
