import {
  importStatusMessage,
  parseXid,
  timestampFromMillis,
  timestampToMillis,
  type ImportStatusData,
} from '@svc/encoding';
import type { KvPredicate } from '@svc/kv';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound } from '../context/refusals.ts';
import type { RepositoryScope } from '../store/scope.ts';

export const importsPrefix: Buffer = Buffer.from('imports/');

/** An import whose owner was silent for longer died with its process. */
const ownerLostMs = 30_000;

export interface StoredImport {
  readonly data: ImportStatusData;
  readonly predicate: KvPredicate;
}

export async function createImport(
  context: EngineContext,
  scope: RepositoryScope,
  id: string,
): Promise<void> {
  const data: ImportStatusData = {
    id,
    completed: false,
    updatedAt: timestampFromMillis(context.clock()),
    progress: 0,
    metaRangeId: '',
    commit: undefined,
    error: '',
  };
  await context.kv.set(scope.partition, importKey(id), importStatusMessage.encode(data));
}

export async function readImport(
  context: EngineContext,
  scope: RepositoryScope,
  id: string,
): Promise<StoredImport> {
  const found = parseXid(id) === undefined ? undefined : await context.kv.get(scope.partition, importKey(id));
  if (found === undefined) throw notFound('import', 'import not found');
  return { data: importStatusMessage.decode(found.value), predicate: found.predicate };
}

export function replaceImport(
  context: EngineContext,
  scope: RepositoryScope,
  stored: StoredImport,
  change: Partial<ImportStatusData>,
): Promise<boolean> {
  const data = { ...stored.data, ...change, updatedAt: timestampFromMillis(context.clock()) };
  const value = importStatusMessage.encode(data);
  return context.kv.setIf(scope.partition, importKey(stored.data.id), value, stored.predicate);
}

/** Whether nothing more will happen to the import. */
export function isFinished(data: ImportStatusData): boolean {
  return data.completed || data.error !== '';
}

/**
 * From here on the import can no longer be cancelled: its tree is written and the branch is about to move. Told by
 * the tree's id in the record, which only the step before the commit puts there.
 */
export function isCommitting(data: ImportStatusData): boolean {
  return data.metaRangeId !== '' && !isFinished(data);
}

export function isAbandoned(context: EngineContext, data: ImportStatusData): boolean {
  return !isFinished(data) && context.clock() - timestampToMillis(data.updatedAt) > ownerLostMs;
}

function importKey(id: string): Buffer {
  return Buffer.from(`imports/${id}`);
}
