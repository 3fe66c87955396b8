import type { ObjectBody } from '@svc/block';
import { withBlockStore } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { notFound } from '../context/refusals.ts';
import type { ObjectEntry, ObjectLocation, Objects, OpenedObject } from '../face/objects.ts';
import { parseKey } from '../names/names.ts';
import { resolveRef } from '../refs/resolve-ref.ts';
import type { TreeRecord } from '../committed/tree.ts';
import { lookup, lookupAsLastSeen, lookupAtOnce } from '../staging/lookup.ts';
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
  const key = parseKey(path);
  // A full commit id is looked for among commits first, even when a branch has that name.
  const head = ref.length === commitIdLength ? undefined : context.branches.lastSeen(scope, ref);
  const known = head === undefined ? 'later' : lookupAtOnce(context, scope, head, key);
  const record = known === 'later' ? await findRecord(context, scope, ref, head, key) : known;
  if (record === undefined) throw notFound('object');
  return decodeObject(context, scope, path, record.data);
}

async function findRecord(
  context: EngineContext,
  scope: RepositoryScope,
  ref: string,
  head: BranchHead | undefined,
  key: Buffer,
): Promise<TreeRecord | undefined> {
  if (head !== undefined) {
    const record = await lookupAsLastSeen(context, scope, head, key);
    if (record !== 'moved') return record;
  }
  return lookup(context, scope, await resolveRef(context, scope, ref), key);
}

const commitIdLength = 64;

export async function statObject(
  context: EngineContext,
  options: Parameters<Objects['stat']>[0],
): Promise<ObjectEntry> {
  const scope =
    context.repositories.openAtOnce(options.repository) ??
    (await context.repositories.open(options.repository));
  const entry = await findObject(context, scope, options.ref, options.path);
  return options.presign === true ? presignEntry(context, scope, entry) : entry;
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
