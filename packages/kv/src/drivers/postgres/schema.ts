import { escapeIdentifier, escapeLiteral, type ClientBase } from 'pg';
import { KvError } from '../../errors.ts';
import { databaseError } from './database-error.ts';

const partitionCount = 100;
const schemaVersion = 1;
const schemaComment = 'svc key-value schema ';

/** Creates the table, its hash partitions and the readable view unless they exist; servers starting at once take turns. */
export async function ensureSchema(client: ClientBase, table: string): Promise<void> {
  try {
    if (await isComplete(client, table)) return;
    await client.query('BEGIN');
    try {
      await client.query("SET LOCAL statement_timeout = '120s'");
      await client.query(`SELECT pg_advisory_xact_lock(${lockNumber(table)})`);
      if (!(await isComplete(client, table))) await client.query(definition(table));
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
  } catch (error) {
    if (error instanceof KvError) throw error;
    const { kind, message } = databaseError(error);
    throw new KvError(
      kind === 'unavailable' || kind === 'slow_down' ? kind : 'setup_failed',
      `cannot create the key-value table "${table}": ${message}; ` +
        'the schema in search_path must exist and the user be allowed to create tables in it',
      { cause: error },
    );
  }
}

/** FNV-1a over 32 bits of `lakefs:<table>`: the number other servers on this database lock as well. */
export function lockNumber(table: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(`lakefs:${table}`)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

async function isComplete(client: ClientBase, table: string): Promise<boolean> {
  const names = [table, `${table}_${partitionCount - 1}`, `${table}_v`].map((name) => escapeIdentifier(name));
  const { rows } = await client.query<(Buffer | null)[]>({
    text:
      'SELECT to_regclass($1)::text, to_regclass($2)::text, to_regclass($3)::text, ' +
      "obj_description(to_regclass($1), 'pg_class')",
    values: names,
    rowMode: 'array',
  });
  const [exists, lastPartition, view, comment] = rows[0] ?? [];
  requireKnownVersion(table, comment?.toString() ?? '');
  return [exists, lastPartition, view].every((name) => name !== null && name !== undefined);
}

function requireKnownVersion(table: string, comment: string): void {
  const version = comment.startsWith(schemaComment)
    ? Number(comment.slice(schemaComment.length))
    : schemaVersion;
  if (version <= schemaVersion) return;
  throw new KvError(
    'setup_failed',
    `the key-value table "${table}" has schema version ${version}, this server knows ${schemaVersion}; ` +
      'use the newer server that created it',
  );
}

function definition(table: string): string {
  const name = escapeIdentifier(table);
  const partitions = Array.from(
    { length: partitionCount },
    (_, remainder) =>
      `CREATE TABLE IF NOT EXISTS ${escapeIdentifier(`${table}_${remainder}`)} PARTITION OF ${name} ` +
      `FOR VALUES WITH (MODULUS ${partitionCount}, REMAINDER ${remainder});`,
  );
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (partition_key BYTEA NOT NULL, key BYTEA NOT NULL, value BYTEA, ` +
      'PRIMARY KEY (partition_key, key)) PARTITION BY HASH (partition_key);',
    ...partitions,
    `CREATE OR REPLACE VIEW ${escapeIdentifier(`${table}_v`)} AS SELECT ` +
      "encode(partition_key, 'escape') AS partition_key, encode(key, 'escape') AS key, value " +
      `FROM ${name};`,
    `COMMENT ON TABLE ${name} IS ${escapeLiteral(`${schemaComment}${schemaVersion}`)};`,
  ].join('\n');
}
