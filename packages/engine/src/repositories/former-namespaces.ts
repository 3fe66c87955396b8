import type { BlockAdapter, BlockStores } from '@svc/block';
import { secondaryIndexMessage } from '@svc/encoding';
import type { KvRecord, KvStore } from '@svc/kv';
import type { EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import type { AddressRights } from '../face/objects.ts';
import type { Repository } from '../face/model.ts';
import {
  formerNamespaceKey,
  formerNamespacesPrefix,
  gravelerPartition,
  repositoryKey,
} from '../store/keys.ts';
import { liesInside, trimSlash } from './namespaces.ts';

type FormerOwner = Pick<Repository, 'id' | 'storageId' | 'storageNamespace'>;

/** A namespace without trailing slash in its comparable spelling, and the repository it belonged to. */
export interface FormerNamespace {
  readonly canonical: string;
  readonly repository: string;
}

/** Deleting a repository leaves its data: what could not be read before must not be free for all then. */
export async function rememberNamespace({ kv }: EngineContext, repository: Repository): Promise<void> {
  const { key, value } = formerNamespaceOf(repository);
  await kv.set(gravelerPartition, key, value);
}

export function formerNamespaceOf({
  id,
  storageId,
  storageNamespace,
}: FormerOwner): KvRecord & { type: 'put' } {
  return {
    type: 'put',
    key: formerNamespaceKey(storageId, trimSlash(storageNamespace)),
    value: secondaryIndexMessage.encode({ primaryKey: repositoryKey(id) }),
  };
}

/** From now on the namespace is a living repository's. */
export async function forgetFormerNamespace(
  { kv }: EngineContext,
  storageId: string,
  storageNamespace: string,
): Promise<void> {
  await kv.delete(gravelerPartition, formerNamespaceKey(storageId, trimSlash(storageNamespace)));
}

/** On all stores of a type. */
export async function* formerNamespaces(
  kv: KvStore,
  stores: BlockStores,
  type: BlockAdapter['type'],
): AsyncGenerator<FormerNamespace> {
  // Repositories older than storage ids have the empty one.
  for (const storageId of new Set(['', ...stores.list().map(({ info }) => info.storageId)])) {
    const store = stores.find(storageId);
    if (store?.type !== type) continue;
    const prefix = formerNamespacesPrefix(storageId);
    for await (const page of kv.scan(gravelerPartition, { prefix })) {
      for (const { key, value } of page) {
        const uri = key.subarray(prefix.length).toString();
        const repository = secondaryIndexMessage.decode(value).primaryKey.toString().slice('repos/'.length);
        yield { canonical: trimSlash(await store.canonicalUri(uri)), repository };
      }
    }
  }
}

/** Whoever takes over what a deleted repository has left must have been allowed to read it. */
export async function checkMayTakeOver(
  context: EngineContext,
  adapter: BlockAdapter,
  canonical: string,
  rights: AddressRights,
): Promise<void> {
  for await (const former of formerNamespaces(context.kv, context.blockStores, adapter.type)) {
    if (!liesInside(canonical, former.canonical) && !liesInside(former.canonical, canonical)) continue;
    if ((await rights.mayReadRepository?.(former.repository)) === true) continue;
    throw new EngineError(
      'forbidden',
      `storage namespace holds the data of the deleted repository '${former.repository}': read permission on all its objects is needed`,
      { subject: 'namespace' },
    );
  }
}
