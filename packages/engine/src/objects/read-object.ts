import type { ObjectBody } from '@svc/block';
import { withBlockStore } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { notFound } from '../context/refusals.ts';
import type { ObjectEntry, ObjectLocation, Objects, OpenedObject, ShownObject } from '../face/objects.ts';
import { parseKey } from '../names/names.ts';
import { resolveRef } from '../refs/resolve-ref.ts';
import type { TreeRecord } from '../committed/tree.ts';
import { lookup, lookupAsLastSeen, lookupAtOnce, lookupCommittedAtOnce } from '../staging/lookup.ts';
import type { BranchHead } from '../store/branch-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { decodeObject, pointerOfEntry } from './object-entry.ts';
import { openData, type DataRange } from './open-data.ts';

/** The entry a ref shows under a path. */
export async function findObject(
  context: EngineContext,
  scope: RepositoryScope,
  ref: string,
  path: string,
): Promise<ObjectEntry> {
  return (await findShown(context, scope, ref, path)).entry;
}

/** The entry a ref shows under a path, and where the ref stands. */
async function findShown(
  context: EngineContext,
  scope: RepositoryScope,
  ref: string,
  path: string,
): Promise<ShownObject> {
  const key = parseKey(path);
  // A full commit id is looked for among commits first, even when a branch has that name.
  const isCommit = ref.length === commitIdLength;
  const head = isCommit ? undefined : context.branches.lastSeen(scope, ref);
  const commitId = isCommit ? ref : head?.data.commitId;
  const known =
    head !== undefined
      ? lookupAtOnce(context, scope, head, key)
      : isCommit
        ? lookupCommittedAtOnce(context, scope, ref, key)
        : 'later';
  const found =
    known === 'later' || commitId === undefined
      ? await findRecord(context, scope, ref, head, key)
      : { record: known, commitId };
  if (found.record === undefined) throw notFound('object');
  return { entry: decodeObject(context, scope, path, found.record.data), commitId: found.commitId };
}

async function findRecord(
  context: EngineContext,
  scope: RepositoryScope,
  ref: string,
  head: BranchHead | undefined,
  key: Buffer,
): Promise<{ readonly record: TreeRecord | undefined; readonly commitId: string }> {
  if (head !== undefined) {
    const record = await lookupAsLastSeen(context, scope, head, key);
    if (record !== 'moved') return { record, commitId: head.data.commitId };
  }
  const target = await resolveRef(context, scope, ref);
  return { record: await lookup(context, scope, target, key), commitId: target.commitId };
}

const commitIdLength = 64;

export async function statObject(
  context: EngineContext,
  options: Parameters<Objects['stat']>[0],
): Promise<ObjectEntry> {
  const scope =
    context.repositories.openAtOnce(options.repository) ??
    (await context.repositories.open(options.repository));
  const { entry } = await findShown(context, scope, options.ref, options.path);
  return options.presign === true ? presignEntry(context, scope, entry) : entry;
}

export async function findShownObject(
  context: EngineContext,
  { repository, ref, path }: ObjectLocation,
): Promise<ShownObject> {
  const scope = context.repositories.openAtOnce(repository) ?? (await context.repositories.open(repository));
  return findShown(context, scope, ref, path);
}

/** The entry with a URL to read it; the URL offers the last path element as file name. */
export async function presignEntry(
  context: EngineContext,
  scope: RepositoryScope,
  entry: ObjectEntry,
): Promise<ObjectEntry> {
  const fileName = entry.path.slice(entry.path.lastIndexOf('/') + 1);
  const presigned = await withBlockStore(adapterOf(context, scope), (adapter) =>
    adapter.presign(pointerOfEntry(scope, entry), 'read', { fileName }),
  );
  return { ...entry, presigned };
}

export async function openObject(
  context: EngineContext,
  options: Parameters<Objects['open']>[0],
): Promise<OpenedObject> {
  const scope =
    context.repositories.openAtOnce(options.repository) ??
    (await context.repositories.open(options.repository));
  const entry = await findObject(context, scope, options.ref, options.path);
  return { entry, body: await openData(context, scope, entry, options.range?.(entry)) };
}

export async function openEntry(
  context: EngineContext,
  repository: string,
  entry: ObjectEntry,
  range?: DataRange,
): Promise<ObjectBody> {
  const scope = context.repositories.openAtOnce(repository) ?? (await context.repositories.open(repository));
  const body = openData(context, scope, entry, range);
  return body instanceof Promise ? await body : body;
}

export async function underlyingProperties(
  context: EngineContext,
  options: ObjectLocation,
): Promise<{ storageClass: string | undefined }> {
  const scope =
    context.repositories.openAtOnce(options.repository) ??
    (await context.repositories.open(options.repository));
  const entry = await findObject(context, scope, options.ref, options.path);
  const { storageClass } = await withBlockStore(adapterOf(context, scope), (adapter) =>
    adapter.properties(pointerOfEntry(scope, entry), { skipEtag: true }),
  );
  return { storageClass };
}
