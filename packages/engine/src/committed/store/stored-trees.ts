import { CorruptTableError } from '@svc/sstable';
import type { CommittedContext } from '../context.ts';
import { entityOf, readOutline } from '../format/tree-outline.ts';
import type { TableDescription, TreeOutline } from '../tree.ts';
import type { BlockTables } from './block-tables.ts';

/** What the block store has, whatever the caches say. */
export async function readStoredOutline(
  tables: BlockTables,
  context: CommittedContext,
  metaRangeId: string,
): Promise<TreeOutline | undefined> {
  const table = await tables.read(context, metaRangeId);
  return table === undefined ? undefined : readOutline(table);
}

export async function describeTable(
  tables: BlockTables,
  context: CommittedContext,
  id: string,
): Promise<TableDescription | undefined> {
  const table = await tables.read(context, id);
  try {
    return table === undefined ? undefined : { entity: entityOf(table) };
  } catch (error) {
    if (error instanceof CorruptTableError) return undefined;
    throw error;
  }
}

export async function areTablesStored(
  tables: BlockTables,
  context: CommittedContext,
  metaRangeId: string,
  baseId: string,
): Promise<boolean> {
  const outline = await readStoredOutline(tables, context, metaRangeId);
  if (outline === undefined) return false;
  const base = baseId === '' ? undefined : await readStoredOutline(tables, context, baseId);
  const known = new Set(base?.ranges.map(({ id }) => id));
  for (const { id } of outline.ranges) {
    if (!known.has(id) && !(await tables.exists(context, id))) return false;
  }
  return true;
}
