import type { BlockAdapter } from '@svc/block';
import { secondaryIndexMessage } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import type { Repository } from '../face/model.ts';
import {
  deletedRepositoriesPrefix,
  gravelerPartition,
  namespaceKey,
  namespacesPrefix,
  repositoryKey,
} from '../store/keys.ts';

/** A namespace somebody has, in its comparable spelling without trailing slash. */
export interface TakenNamespace {
  readonly canonical: string;
  readonly repository: string;
  /** Its repository is gone, and its data is going. */
  readonly isEmptied: boolean;
}

export function trimSlash(uri: string): string {
  return uri.endsWith('/') ? uri.slice(0, -1) : uri;
}

/** Whether `uri` is `namespace` or lies below it; both canonical. */
export function liesInside(uri: string, namespace: string): boolean {
  return uri === namespace || uri.startsWith(`${namespace}/`);
}

/** What somebody else has, if it clashes, and whether the namespace was reserved by this call. */
export interface Clash {
  readonly taken: TakenNamespace | undefined;
  readonly reserved: boolean;
}

/**
 * Reserves a namespace for a repository about to be created, then refuses it when it equals, contains or lies
 * inside another repository's. Of two racing creations at most one passes.
 */
export async function reserveNamespace(
  context: EngineContext,
  adapter: BlockAdapter,
  storageId: string,
  storageNamespace: string,
  id: string,
): Promise<void> {
  const { taken } = await findClash(context, adapter, { id, storageId, storageNamespace });
  if (taken === undefined) return;
  throw invalid(`failed to create repository: ${namespaceIsTaken(storageNamespace, taken)}`, 'namespace');
}

export function namespaceIsTaken(namespace: string, { repository, isEmptied }: TakenNamespace): string {
  return isEmptied
    ? `storage namespace ${namespace} is being emptied`
    : `storage namespace ${namespace} clashes with that of repository '${repository}': choose one outside of it`;
}

/** As `reserveNamespace`, telling of the clash; the reservation stays only where there is none. */
export async function findClash(
  context: EngineContext,
  adapter: BlockAdapter,
  { id, storageId, storageNamespace }: Pick<Repository, 'id' | 'storageId' | 'storageNamespace'>,
): Promise<Clash> {
  const key = namespaceKey(storageId, trimSlash(storageNamespace));
  const value = secondaryIndexMessage.encode({ primaryKey: repositoryKey(id) });
  const reserved = await context.kv.setIf(gravelerPartition, key, value, 'absent');
  let taken: TakenNamespace | undefined;
  let looked = false;
  try {
    const ours = trimSlash(await adapter.canonicalUri(storageNamespace));
    for await (const other of takenNamespaces(context, adapter, storageId)) {
      if (other.repository === id && !other.isEmptied) continue;
      const clashes = liesInside(ours, other.canonical) || liesInside(other.canonical, ours);
      if (clashes) taken ??= other;
    }
    looked = true;
  } finally {
    if (reserved && (!looked || taken !== undefined)) await context.kv.delete(gravelerPartition, key);
  }
  return { taken, reserved };
}

export async function releaseNamespace(
  context: EngineContext,
  storageId: string,
  namespace: string,
  repository: string,
): Promise<void> {
  const key = namespaceKey(storageId, trimSlash(namespace));
  const found = await context.kv.get(gravelerPartition, key);
  if (found === undefined) return;
  const owner = secondaryIndexMessage.decode(found.value).primaryKey;
  if (owner.equals(repositoryKey(repository))) {
    await context.kv.deleteIf(gravelerPartition, key, found.predicate);
  }
}

/** Reservations (also of creations under way) and, for records older than reservations, the repositories. */
async function* takenNamespaces(
  context: EngineContext,
  adapter: BlockAdapter,
  storageId: string,
): AsyncGenerator<TakenNamespace> {
  const prefix = namespacesPrefix(storageId);
  for await (const page of context.kv.scan(gravelerPartition, { prefix })) {
    for (const { key, value } of page) {
      const uri = key.subarray(prefix.length).toString();
      const [kind, repository = ''] = secondaryIndexMessage.decode(value).primaryKey.toString().split('/');
      const isEmptied = `${kind}/` === deletedRepositoriesPrefix.toString();
      yield { canonical: trimSlash(await adapter.canonicalUri(uri)), repository, isEmptied };
    }
  }
  for await (const data of context.repositories.list('', '')) {
    const store = context.blockStores.find(data.storageId);
    // Two stores of local folders may be one place; buckets of one name on two services are not.
    const isComparable =
      data.storageId === storageId || (adapter.type === 'local' && store?.type === 'local');
    if (store === undefined || !isComparable) continue;
    const canonical = trimSlash(await store.canonicalUri(data.storageNamespace));
    yield { canonical, repository: data.id, isEmptied: false };
  }
}
