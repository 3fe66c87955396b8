import { MetastoreError } from '../metastore-error.ts';
import type { Metastore } from '../metastore.ts';
import type { Database } from '../model.ts';
import { isRelocatable, type Relocate } from './locations.ts';

export interface CopyDatabaseRequest {
  readonly from: { readonly metastore: Metastore; readonly database: string };
  readonly to: { readonly metastore: Metastore; readonly database: string };
  readonly relocate: Relocate;
  readonly dryRun: boolean;
}

/** Creates a schema like another one, without its tables. */
export async function copyDatabase({ from, to, relocate, dryRun }: CopyDatabaseRequest): Promise<Database> {
  const source = await sourceDatabase(from);
  const location = (source.location ?? '') === '' ? source.location : relocate(source.location ?? '');
  const target = { ...source, name: to.database, location };
  if ((await to.metastore.getDatabase(to.database)) !== undefined) {
    throw new MetastoreError('exists', `schema ${to.database} is already in ${to.metastore.label}`);
  }
  if (!dryRun) await to.metastore.createDatabase(target);
  return target;
}

/** The same where it is missing. A schema that is in no object store gets a place below `warehouse`. */
export async function ensureDatabase(
  { from, to, relocate, dryRun }: CopyDatabaseRequest,
  warehouse: string,
): Promise<'created' | 'exists'> {
  if ((await to.metastore.getDatabase(to.database)) !== undefined) return 'exists';
  const source = await sourceDatabase(from);
  const target = { ...source, name: to.database, location: placeOf(source.location ?? '') };
  try {
    if (!dryRun) await to.metastore.createDatabase(target);
  } catch (error) {
    // Somebody else was quicker.
    if (!(error instanceof MetastoreError) || error.kind !== 'exists') throw error;
    return 'exists';
  }
  return 'created';

  function placeOf(location: string): string | undefined {
    if (isRelocatable(location)) return relocate(location);
    return warehouse === '' ? undefined : `${warehouse.replace(/\/+$/, '')}/${to.database}.db`;
  }
}

async function sourceDatabase({ metastore, database }: CopyDatabaseRequest['from']): Promise<Database> {
  const found = await metastore.getDatabase(database);
  if (found === undefined) {
    throw new MetastoreError('not-found', `there is no schema ${database} in ${metastore.label}`);
  }
  return found;
}
