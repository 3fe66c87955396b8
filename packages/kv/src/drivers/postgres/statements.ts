import type { Table } from './tables.ts';

/** Named, so that the server plans each of them once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type StatementName =
  | 'get'
  | 'getEach'
  | 'getMany'
  | 'set'
  | 'setEach'
  | 'setMany'
  | 'create'
  | 'update'
  | 'replace'
  | 'changeEach'
  | 'delete'
  | 'deleteUnchanged'
  | 'deleteMany'
  | 'scan'
  | 'scanRange'
  | 'scanEach';

/**
 * Whether a row is one of those with the keys of an array. Each key is looked up by itself: `key = ANY(…)` may be planned
 * as a filter over all rows of the partition. A place in a table (`ctid`) means one row only where there are no tables
 * below it.
 */
export function isOneOf({ text, isWhole }: Table, partition: string, keys: string): string {
  if (isWhole) return `partition_key = ${partition}::bytea AND key = ANY(${keys}::bytea[])`;
  return (
    `ctid = ANY (ARRAY(SELECT (SELECT ctid FROM ${text} WHERE partition_key = ${partition}::bytea AND ` +
    `key = asked.key) FROM unnest(${keys}::bytea[]) AS asked (key)))`
  );
}

/** Longer than any key can be. An index finds the end of a range by it, as it would not by "or there is no end". */
const afterAllKeys = "decode(repeat('ff', 4096), 'hex')";

/** The statements on one table. */
export function statements(on: Table): Record<StatementName, Statement> {
  const { text: table, name: suffix } = on;
  const entry = 'partition_key = $1 AND key = $2';
  const insert = `INSERT INTO ${table} (partition_key, key, value)`;
  const onConflict = 'ON CONFLICT (partition_key, key) DO';
  const overwrite = `${onConflict} UPDATE SET value = EXCLUDED.value`;
  const page = `SELECT key, value FROM ${table} WHERE partition_key = $1 AND key >= $2`;
  const texts: Record<StatementName, string> = {
    get: `SELECT value FROM ${table} WHERE ${entry}`,
    // A subquery per row is never planned as a join over the whole table.
    getEach:
      `SELECT (SELECT value FROM ${table} WHERE partition_key = asked.partition AND key = asked.key) ` +
      'FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS asked (partition, key, place) ORDER BY asked.place',
    getMany:
      `SELECT (SELECT value FROM ${table} WHERE partition_key = $1 AND key = asked.key) ` +
      'FROM unnest($2::bytea[]) WITH ORDINALITY AS asked (key, place) ORDER BY asked.place',
    set: `${insert} VALUES ($1, $2, $3) ${overwrite}`,
    setEach: `${insert} SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) ${overwrite}`,
    setMany: `${insert} SELECT $1::bytea, * FROM unnest($2::bytea[], $3::bytea[]) ${overwrite}`,
    create: `${insert} VALUES ($1, $2, $3) ${onConflict} NOTHING`,
    update: `UPDATE ${table} SET value = $3 WHERE ${entry}`,
    replace: `UPDATE ${table} SET value = $3 WHERE ${entry} AND value = $4`,
    changeEach:
      'WITH asked AS MATERIALIZED (SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[]) ' +
      'WITH ORDINALITY AS a (partition, key, value, still, place)), ' +
      // As above: NOT EXISTS may be planned as a join.
      `g AS (${insert} SELECT partition, key, value FROM asked WHERE ` +
      `(SELECT true FROM ${table} AS other WHERE other.partition_key = asked.partition AND other.key = asked.still) ` +
      `IS NULL ORDER BY partition, key ${onConflict} NOTHING RETURNING partition_key, key), ` +
      'made AS MATERIALIZED (SELECT asked.place, asked.partition FROM asked ' +
      'JOIN g ON g.partition_key = asked.partition AND g.key = asked.key), ' +
      `p AS (${insert} SELECT made.partition, put.key, put.value ` +
      'FROM unnest($5::int8[], $6::bytea[], $7::bytea[]) AS put (place, key, value) ' +
      `JOIN made ON made.place = put.place ORDER BY made.partition, put.key ${overwrite}) ` +
      'SELECT place FROM made',
    delete: `DELETE FROM ${table} WHERE ${entry}`,
    deleteUnchanged: `DELETE FROM ${table} WHERE ${entry} AND value = $3`,
    deleteMany: `DELETE FROM ${table} WHERE ${isOneOf(on, '$1', '$2')}`,
    scan: `${page} ORDER BY key LIMIT $3`,
    scanRange: `${page} AND key < $4 ORDER BY key LIMIT $3`,
    scanEach:
      'SELECT asked.place, found.key, found.value FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::int8[]) ' +
      'WITH ORDINALITY AS asked (partition, lower, upper, most, place), ' +
      `LATERAL (SELECT key, value FROM ${table} WHERE partition_key = asked.partition AND key >= asked.lower ` +
      `AND key < COALESCE(asked.upper, ${afterAllKeys}) ORDER BY key LIMIT asked.most) AS found ` +
      'ORDER BY asked.place, found.key',
  };
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, { name: `kv_${key}_${suffix}`, text }]),
  ) as Record<StatementName, Statement>;
}
