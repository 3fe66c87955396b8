import { array, assert, boolean, property } from 'fast-check';
import { expect, it } from 'vitest';
import { parseJson, writeJson, type JsonObject } from '../json.ts';
import { newTable } from './new-table.ts';
import { checkRequirements } from './requirements.ts';
import { readMetadata, type TableMetadata } from './table-metadata.ts';
import { applyUpdates } from './updates.ts';

const now = 1000;
const schema = {
  type: 'struct',
  fields: [
    { id: 7, name: 'n', required: true, type: 'long' },
    {
      id: 8,
      name: 'tags',
      required: false,
      type: { type: 'list', 'element-id': 9, element: 'string', 'element-required': false },
    },
    { id: 3, name: 's', required: false, type: 'string' },
  ],
};
const made = (): TableMetadata => newTable({ schema }, 's3://lake/t', now);

function apply(table: TableMetadata, ...updates: JsonObject[]): TableMetadata {
  return applyUpdates(table, updates, { now: now + 1, isNew: false, checkLocation: () => {} });
}

function snapshot(id: number | bigint, sequence: number, parent?: number | bigint): JsonObject {
  return {
    action: 'add-snapshot',
    snapshot: {
      'snapshot-id': id,
      ...(parent === undefined ? {} : { 'parent-snapshot-id': parent }),
      'sequence-number': sequence,
      'timestamp-ms': now + sequence,
      'manifest-list': `s3://lake/t/metadata/${id}.avro`,
      summary: { operation: 'append' },
    },
  };
}

const show = (id: number | bigint, ref = 'main'): JsonObject => ({
  action: 'set-snapshot-ref',
  'ref-name': ref,
  type: 'branch',
  'snapshot-id': id,
});

it('a new table numbers its fields from 1, each struct before what is in it, and partitions from 1000', () => {
  const table = newTable(
    {
      schema: { ...schema, 'identifier-field-ids': [7] },
      'partition-spec': { fields: [{ name: 'p', transform: 'identity', 'source-id': 3, 'field-id': 5 }] },
      'write-order': {
        'order-id': 9,
        fields: [{ transform: 'identity', 'source-id': 7, direction: 'asc', 'null-order': 'nulls-first' }],
      },
      properties: { 'format-version': '3', a: 'b' },
    },
    's3://lake/t',
    now,
  );
  expect(table).toMatchObject({
    'format-version': 3,
    'next-row-id': 0,
    'last-column-id': 4,
    'last-partition-id': 1000,
    'current-schema-id': 0,
    'default-spec-id': 0,
    'default-sort-order-id': 1,
    properties: { a: 'b' },
    schemas: [
      {
        'identifier-field-ids': [1],
        fields: [{ id: 1 }, { id: 2, type: { 'element-id': 4 } }, { id: 3 }],
      },
    ],
    'partition-specs': [{ 'spec-id': 0, fields: [{ 'source-id': 3, 'field-id': 1000 }] }],
    'sort-orders': [{ 'order-id': 1, fields: [{ 'source-id': 1 }] }],
  });
  expect(made()['sort-orders']).toEqual([{ 'order-id': 0, fields: [] }]);
});

it.each([
  ['a schema without fields', { schema: { type: 'struct' } }],
  ['two fields of one name', { schema: { fields: [1, 2].map((id) => ({ id, name: 'n', type: 'int' })) } }],
  ['two fields of one id', { schema: { fields: ['a', 'b'].map((name) => ({ id: 1, name, type: 'int' })) } }],
  ['a type that nobody knows', { schema: { fields: [{ id: 1, name: 'n', type: { type: 'set' } }] } }],
  ['format version 1', { schema, properties: { 'format-version': '1' } }],
  ['a property that is no text', { schema, properties: { a: 1 } }],
  [
    'a partition by a field that is not there',
    { schema, 'partition-spec': { fields: [{ name: 'p', transform: 'identity', 'source-id': 99 }] } },
  ],
])('a new table is refused with %s', (_what, body) => {
  expect(() => newTable(body as unknown as JsonObject, 's3://lake/t', now)).toThrow(
    expect.objectContaining({ type: 'BadRequestException' }),
  );
});

it('ids of 63 bits come through files and comparisons unchanged', () => {
  const id = 8_744_736_658_442_914_487n;
  const table = apply(made(), snapshot(id, 1), show(id));
  const again = readMetadata(parseJson(writeJson(table)) as JsonObject);
  expect(again).toEqual(table);
  expect(again['current-snapshot-id']).toBe(id);
  const wanted = { type: 'assert-ref-snapshot-id', ref: 'main' };
  checkRequirements(again, [{ ...wanted, 'snapshot-id': id }]);
  expect(() => checkRequirements(again, [{ ...wanted, 'snapshot-id': id + 1n }])).toThrow('has changed');
});

it('snapshots: what passes within one commit is not logged; what is removed takes its refs and log along', () => {
  const one = apply(made(), snapshot(1, 1), show(1));
  const two = apply(one, snapshot(2, 2, 1), show(2), snapshot(3, 3, 2), show(3), show(3, 'audit'));
  expect(two['snapshot-log'].map((entry) => entry['snapshot-id'])).toEqual([1, 3]);
  expect(two['last-sequence-number']).toBe(3);
  expect(() => apply(two, snapshot(4, 3, 3))).toThrow(
    expect.objectContaining({ type: 'CommitFailedException' }),
  );
  expect(() => apply(two, snapshot(3, 4, 3))).toThrow('there already');
  const back = apply(two, show(2));
  expect(back['snapshot-log'].map((entry) => entry['snapshot-id'])).toEqual([1, 3, 2]);
  const rest = apply(back, { action: 'remove-snapshots', 'snapshot-ids': [3] });
  expect([Object.keys(rest.refs), rest['current-snapshot-id']]).toEqual([['main'], 2]);
  expect(rest['snapshot-log'].map((entry) => entry['snapshot-id'])).toEqual([2]);
  const none = apply(rest, { action: 'remove-snapshot-ref', 'ref-name': 'main' });
  expect([none.refs, none['current-snapshot-id']]).toEqual([{}, undefined]);
});

it('rows of format version 3 are numbered without gaps', () => {
  const table = apply(made(), { action: 'upgrade-format-version', 'format-version': 3 });
  const rows = { 'first-row-id': 0, 'added-rows': 5 };
  const added = {
    action: 'add-snapshot',
    snapshot: { ...(snapshot(1, 1)['snapshot'] as JsonObject), ...rows },
  };
  const after = apply(table, added);
  expect(after['next-row-id']).toBe(5);
  const stale = {
    action: 'add-snapshot',
    snapshot: { ...(snapshot(2, 2, 1)['snapshot'] as JsonObject), ...rows },
  };
  expect(() => apply(after, stale)).toThrow(expect.objectContaining({ type: 'CommitFailedException' }));
});

it('schemas, specs and orders that are there already are not added again', () => {
  const table = made();
  const wider = {
    ...schema,
    fields: [...schema.fields, { id: 10, name: 'm', required: false, type: 'int' }],
  };
  const current = table.schemas[0] as JsonObject;
  const same = apply(
    table,
    { action: 'add-schema', schema: current },
    { action: 'set-current-schema', 'schema-id': -1 },
  );
  expect([same.schemas.length, same['current-schema-id']]).toEqual([1, 0]);
  const other = apply(
    table,
    { action: 'add-schema', schema: wider },
    { action: 'set-current-schema', 'schema-id': -1 },
    { action: 'add-spec', spec: { fields: [{ name: 'p', transform: 'bucket[4]', 'source-id': 1 }] } },
    { action: 'add-spec', spec: { fields: [{ name: 'q', transform: 'bucket[4]', 'source-id': 1 }] } },
    { action: 'add-sort-order', 'sort-order': { fields: [] } },
  );
  expect([other.schemas.length, other['current-schema-id'], other['last-column-id']]).toEqual([2, 1, 10]);
  expect(other['partition-specs'].flatMap(({ fields }) => fields.map((field) => field['field-id']))).toEqual([
    1000, 1000,
  ]);
  expect(other['sort-orders']).toHaveLength(1);
});

it.each<[string, JsonObject]>([
  ['another UUID', { action: 'assign-uuid', uuid: 'b8a1c5f4-0000-4000-8000-000000000000' }],
  ['an older format', { action: 'upgrade-format-version', 'format-version': 1 }],
  ['a snapshot that is not there', show(99)],
  ['a schema that is not there', { action: 'set-current-schema', 'schema-id': 5 }],
  ['the last added of none', { action: 'set-default-spec', 'spec-id': -1 }],
  ['removing the current schema', { action: 'remove-schemas', 'schema-ids': [0] }],
  ['removing the default spec', { action: 'remove-partition-specs', 'spec-ids': [0] }],
  ['an update that nobody knows', { action: 'toString' }],
  ['an id that is no number', { action: 'remove-statistics', 'snapshot-id': '1' }],
])('refuses %s', (_what, update) => {
  expect(() => apply(made(), update)).toThrow(expect.objectContaining({ type: 'BadRequestException' }));
});

it('a refused or finished change leaves the table it began with untouched', () => {
  const table = apply(made(), snapshot(1, 1), show(1));
  const before = writeJson(table);
  apply(table, snapshot(2, 2, 1), show(2), { action: 'set-properties', updates: { a: 'b' } });
  expect(() => apply(table, { action: 'set-properties', updates: { a: 'b' } }, show(99))).toThrow(
    'no snapshot',
  );
  expect(writeJson(table)).toBe(before);
});

it.each<[string, JsonObject]>([
  ['the UUID', { type: 'assert-table-uuid', uuid: 'b8a1c5f4-0000-4000-8000-000000000000' }],
  ['a snapshot', { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': 1 }],
  ['no snapshot', { type: 'assert-ref-snapshot-id', ref: 'kept', 'snapshot-id': null }],
  ['a field id', { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': 1 }],
  ['the schema', { type: 'assert-current-schema-id', 'current-schema-id': 1 }],
  ['a partition id', { type: 'assert-last-assigned-partition-id', 'last-assigned-partition-id': 1 }],
  ['the spec', { type: 'assert-default-spec-id', 'default-spec-id': 1 }],
  ['the order', { type: 'assert-default-sort-order-id', 'default-sort-order-id': 1 }],
  ['that there is no table', { type: 'assert-create' }],
])('a requirement on %s that does not hold is a conflict', (_what, requirement) => {
  const table = apply(made(), snapshot(5, 1), show(5, 'kept'));
  expect(() => checkRequirements(table, [requirement])).toThrow(
    expect.objectContaining({ type: 'CommitFailedException' }),
  );
});

it('one of two writers that require the same snapshot always fails, whatever else they write', () => {
  assert(
    property(array(boolean(), { minLength: 2, maxLength: 20 }), (turns) => {
      // Two writers, each with the table as it last saw it; `turns` says who commits.
      let table = made();
      let next = 1;
      const seen = [table, table];
      for (const turn of turns) {
        const writer = Number(turn);
        const known = seen[writer] as TableMetadata;
        const expected = known['current-snapshot-id'];
        const requirement = { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': expected ?? null };
        const isStale = expected !== table['current-snapshot-id'];
        const commit = (): TableMetadata => {
          checkRequirements(table, [requirement]);
          const id = next++;
          const sequence = Number(known['last-sequence-number']) + 1;
          return apply(table, snapshot(id, sequence, expected), show(id));
        };
        if (isStale) expect(commit).toThrow('has changed');
        else table = commit();
        seen[writer] = table;
      }
      const ids = table.snapshots.map((item) => item['snapshot-id']);
      expect(new Set(ids).size).toBe(ids.length);
      for (const [at, item] of table.snapshots.entries()) {
        expect(item['parent-snapshot-id']).toBe(at === 0 ? undefined : ids[at - 1]);
      }
    }),
  );
});
