import type { OwnedChange, OwnedWrite } from '../../arguments.ts';
import { predicateValue } from '../../value-predicate.ts';
import { byteaArray } from './binary-array.ts';
import { isOneOf } from './statements.ts';
import type { Table } from './tables.ts';

export interface PlannedChange {
  /** Named, so that the server plans each shape once per connection. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly Buffer[];
}

type Guarding = 'none' | 'create' | 'update' | 'replace' | 'remove' | 'removeSame' | 'lock' | 'lockSame';
type Still = 'none' | 'absent' | 'equal';

/**
 * A `change` as one statement, and so as one transaction in one round trip: `g` makes the guarded write, or holds the
 * guarded row, and everything else happens only when `g` has a row. Undefined when the guard can never hold.
 */
export function planChange(on: Table, change: OwnedChange): PlannedChange | undefined {
  const { text: table, name } = on;
  const { guard, guarded, still } = change;
  const { condition } = guard;
  const expected = typeof condition === 'string' ? undefined : predicateValue(condition);
  if (typeof condition !== 'string' && expected === undefined) return undefined;
  const guarding = guardingOf(change);
  const others = guarding === 'none' && guarded !== undefined ? [...change.others, guarded] : change.others;
  const stillKind: Still = still === undefined ? 'none' : still.value === undefined ? 'absent' : 'equal';
  const values: Buffer[] = [
    change.partition,
    byteaArray(others.filter((write) => write.type === 'delete').map((write) => write.key)),
    ...columns(others, 'put'),
    ...columns(others, 'create'),
  ];
  const parameter = (value: Buffer): string => `$${values.push(value)}`;
  const holds = still === undefined ? 'true' : stillText(table, parameter(still.key), still.value, parameter);
  const g = guardText(table, guarding, holds, change, expected, parameter);
  return { name: `kv_change_${guarding}_${stillKind}_${name}`, text: changeText(on, g), values };
}

function guardingOf({ guard, guarded }: OwnedChange): Guarding {
  const same = typeof guard.condition !== 'string';
  if (guard.condition === 'any') return 'none';
  if (guard.condition === 'absent') return 'create';
  // A guarded key is present: creating it is left out.
  if (guarded === undefined || guarded.type === 'create') return same ? 'lockSame' : 'lock';
  if (guarded.type === 'delete') return same ? 'removeSame' : 'remove';
  return same ? 'replace' : 'update';
}

function columns(writes: readonly OwnedWrite[], type: 'put' | 'create'): [Buffer, Buffer] {
  const keys: Buffer[] = [];
  const values: Buffer[] = [];
  for (const write of writes) {
    if (write.type !== type) continue;
    keys.push(write.key);
    values.push(write.value);
  }
  return [byteaArray(keys), byteaArray(values)];
}

function stillText(
  table: string,
  key: string,
  value: Buffer | undefined,
  parameter: (value: Buffer) => string,
): string {
  const row = `SELECT FROM ${table} WHERE partition_key = $1::bytea AND key = ${key}::bytea`;
  return value === undefined
    ? `NOT EXISTS (${row})`
    : `EXISTS (${row} AND value = ${parameter(value)}::bytea)`;
}

function guardText(
  table: string,
  guarding: Guarding,
  holds: string,
  { guard, guarded }: OwnedChange,
  expected: Buffer | undefined,
  parameter: (value: Buffer) => string,
): string {
  if (guarding === 'none') return `SELECT 1 WHERE ${holds}`;
  const key = `${parameter(guard.key)}::bytea`;
  const same = expected === undefined ? '' : ` AND value = ${parameter(expected)}::bytea`;
  const row = `partition_key = $1::bytea AND key = ${key}${same} AND ${holds}`;
  const value = (): string =>
    `${parameter(guarded === undefined || guarded.type === 'delete' ? Buffer.alloc(0) : guarded.value)}::bytea`;
  switch (guarding) {
    case 'create':
      return (
        `INSERT INTO ${table} (partition_key, key, value) SELECT $1::bytea, ${key}, ${value()} WHERE ${holds} ` +
        'ON CONFLICT (partition_key, key) DO NOTHING RETURNING 1'
      );
    case 'update':
    case 'replace':
      return `UPDATE ${table} SET value = ${value()} WHERE ${row} RETURNING 1`;
    case 'remove':
    case 'removeSame':
      return `DELETE FROM ${table} WHERE ${row} RETURNING 1`;
    case 'lock':
    case 'lockSame':
      // The row stays as it is until this statement is committed.
      return `SELECT 1 FROM ${table} WHERE ${row} FOR UPDATE`;
  }
}

function changeText(on: Table, guard: string): string {
  const { text: table } = on;
  const insert = (keys: number): string =>
    `INSERT INTO ${table} (partition_key, key, value) ` +
    `SELECT $1::bytea, * FROM unnest($${keys}::bytea[], $${keys + 1}::bytea[]) WHERE EXISTS (SELECT FROM g) ` +
    'ON CONFLICT (partition_key, key) DO';
  return (
    `WITH g AS MATERIALIZED (${guard}), ` +
    `d AS (DELETE FROM ${table} WHERE EXISTS (SELECT FROM g) AND ${isOneOf(on, '$1', '$2')}), ` +
    `p AS (${insert(3)} UPDATE SET value = EXCLUDED.value), ` +
    `c AS (${insert(5)} NOTHING) ` +
    'SELECT 1 FROM g'
  );
}
