import type { KvStore } from '@svc/kv';
import { readMarker } from '../migration/marker.ts';

/**
 * Version of the layout of records in the key-value store that this program reads and writes. Versions 1 to 3 were
 * written by earlier programs of the compatible format and need a migration that only those programs have.
 */
export const currentSchemaVersion = 4;

const partition = Buffer.from('kv-internal-metadata');
const key = Buffer.from('kv/schema/version');

/** The version of a store, or undefined for a new one. */
export async function readSchemaVersion(kv: KvStore): Promise<number | undefined> {
  const found = await kv.get(partition, key);
  if (found === undefined) return undefined;
  const text = found.value.toString('latin1');
  if (!/^\d+$/.test(text))
    throw new SchemaVersionError(`the key-value store has an unreadable schema version`);
  return Number(text);
}

/** Refuses a store that another version of this program has written; a new one is marked as ours. */
export async function checkSchemaVersion(kv: KvStore): Promise<void> {
  const [found, migration] = await Promise.all([readSchemaVersion(kv), readMarker(kv)]);
  if (migration !== undefined) {
    throw new SchemaVersionError(
      `the key-value store is incomplete: its migration from ${migration.from} has not finished; run "svc migrate store" again`,
    );
  }
  if (found === undefined) {
    await kv.setIf(partition, key, Buffer.from(String(currentSchemaVersion)), 'absent');
  } else if (found > currentSchemaVersion) {
    throw new SchemaVersionError(
      `incompatible key-value store: it has schema version ${found}, which is newer than this program knows (${currentSchemaVersion}); use a newer svc`,
    );
  } else if (found < currentSchemaVersion) {
    throw new SchemaVersionError(migrationRequired(found));
  }
}

/** Nothing of ours has ever written an older version, so there is nothing of ours that could migrate it. */
export function migrationRequired(found: number): string {
  return `migration required: the key-value store has schema version ${found} and needs ${currentSchemaVersion}; bring it there with the program that wrote it, then start svc`;
}

export class SchemaVersionError extends Error {
  override readonly name = 'SchemaVersionError';
}
