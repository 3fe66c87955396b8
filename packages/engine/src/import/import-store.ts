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
import { taskEvent } from '../tasks/task-runner.ts';

export const importsPrefix: Buffer = Buffer.from('imports/');

/** An import whose owner was silent for longer died with its process. */
const ownerLostMs = 30_000;

export interface StoredImport {
  readonly data: ImportStatusData;
  readonly predicate: KvPredicate;
}

/** Records a new import; returns when, in milliseconds. */
export async function createImport(
  context: EngineContext,
  scope: RepositoryScope,
  id: string,
): Promise<number> {
  const acceptedAt = context.clock();
  const data: ImportStatusData = {
    id,
    completed: false,
    updatedAt: timestampFromMillis(acceptedAt),
    progress: 0,
    metaRangeId: '',
    commit: undefined,
    error: '',
  };
  await context.kv.set(scope.partition, importKey(id), importStatusMessage.encode(data));
  return acceptedAt;
}

/** Takes an import that nobody has touched since it was recorded; false when somebody has. */
export async function takeImport(
  context: EngineContext,
  scope: RepositoryScope,
  { id, acceptedAt }: { readonly id: string; readonly acceptedAt: number },
): Promise<boolean> {
  const { data, predicate } = await readImport(context, scope, id);
  if (isFinished(data) || timestampToMillis(data.updatedAt) !== acceptedAt) return false;
  // Never the same time again, or a second one could take it within the same millisecond.
  const updatedAt = timestampFromMillis(Math.max(context.clock(), acceptedAt + 1));
  const value = importStatusMessage.encode({ ...data, updatedAt });
  return context.kv.setIf(scope.partition, importKey(id), value, predicate);
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
  const key = importKey(stored.data.id);
  if (!isFinished(data)) return context.kv.setIf(scope.partition, key, value, stored.predicate);
  const { id, error, commit } = data;
  return context.kv.change(scope.partition, { key, condition: stored.predicate }, [
    { type: 'put', key, value },
    context.told(taskEvent(id, { operation: 'import', error, commitId: commit?.id })),
  ]);
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
