import type { BlockAdapter } from '@svc/block';
import { secondaryIndexMessage } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { gravelerPartition, namespaceKey, namespacesPrefix, repositoryKey } from '../store/keys.ts';

/** A namespace somebody has, in its comparable spelling without trailing slash. */
interface TakenNamespace {
  readonly canonical: string;
  readonly repository: string;
}

export function trimSlash(uri: string): string {
  return uri.endsWith('/') ? uri.slice(0, -1) : uri;
}

/** Whether `uri` is `namespace` or lies below it; both canonical. */
export function liesInside(uri: string, namespace: string): boolean {
  return uri === namespace || uri.startsWith(`${namespace}/`);
}

/**
 * Reserves a namespace for a repository about to be created, then refuses it when it equals, contains or lies
 * inside another repository's. Of two racing creations at most one passes.
 */
export async function reserveNamespace(
  context: EngineContext,
  adapter: BlockAdapter,
  storageId: string,
  namespace: string,
  repository: string,
): Promise<void> {
  const key = namespaceKey(storageId, trimSlash(namespace));
  const value = secondaryIndexMessage.encode({ primaryKey: repositoryKey(repository) });
  const reserved = await context.kv.setIf(gravelerPartition, key, value, 'absent');
  try {
    await checkClash(context, adapter, storageId, namespace, repository);
  } catch (error) {
    if (reserved) await context.kv.delete(gravelerPartition, key);
    throw error;
  }
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

async function checkClash(
  context: EngineContext,
  adapter: BlockAdapter,
  storageId: string,
  namespace: string,
  repository: string,
): Promise<void> {
  const ours = trimSlash(await adapter.canonicalUri(namespace));
  for await (const taken of takenNamespaces(context, adapter, storageId)) {
    if (taken.repository === repository) continue;
    if (liesInside(ours, taken.canonical) || liesInside(taken.canonical, ours)) {
      throw invalid(
        `failed to create repository: storage namespace ${namespace} clashes with that of repository '${taken.repository}': choose one outside of it`,
        'namespace',
      );
    }
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
      const repository = secondaryIndexMessage.decode(value).primaryKey.toString().slice('repos/'.length);
      yield { canonical: trimSlash(await adapter.canonicalUri(uri)), repository };
    }
  }
  for await (const data of context.repositories.list('', '')) {
    const store = context.blockStores.find(data.storageId);
    // Two stores of local folders may be one place; buckets of one name on two services are not.
    const isComparable =
      data.storageId === storageId || (adapter.type === 'local' && store?.type === 'local');
    if (store === undefined || !isComparable) continue;
    yield { canonical: trimSlash(await store.canonicalUri(data.storageNamespace)), repository: data.id };
  }
}
