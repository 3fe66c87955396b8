import type { BlockAdapter, BlockStores } from '@svc/block';
import type { CacheBus, KvStore } from '@svc/kv';
import { growingCache } from '../context/growing-cache.ts';
import { formerNamespaces } from '../repositories/former-namespaces.ts';
import { liesInside, trimSlash } from '../repositories/namespaces.ts';
import { listTrash } from '../store/deleted-repositories.ts';
import type { RepositoryStore } from '../store/repository-store.ts';

const topic = 'engine/namespaces';
const lifetimeMs = 5000;

interface Known {
  readonly expires: number;
  /** Canonical namespace to repository. */
  readonly owners: ReadonlyMap<string, string>;
  /** Canonical namespaces of deleted repositories whose data is to be deleted too. */
  readonly waiting: readonly string[];
}

/**
 * Finds the repository in whose namespace an address lies, also one that was deleted and left its data. Its knowledge
 * is a few seconds old at most. Comparing real paths on the local store costs several system calls, so spellings are
 * remembered that long, too.
 */
export class NamespaceIndex {
  readonly #kv: KvStore;
  readonly #repositories: RepositoryStore;
  readonly #stores: BlockStores;
  readonly #bus: CacheBus;
  readonly #clock: () => number;
  readonly #known = new Map<string, Known | Promise<Known>>();
  readonly #canonical = growingCache<string>(10_000, { ttl: lifetimeMs, ttlResolution: 100 });
  readonly #unsubscribe: () => void;

  constructor(
    kv: KvStore,
    repositories: RepositoryStore,
    stores: BlockStores,
    bus: CacheBus,
    clock: () => number,
  ) {
    this.#kv = kv;
    this.#repositories = repositories;
    this.#stores = stores;
    this.#bus = bus;
    this.#clock = clock;
    this.#unsubscribe = bus.subscribe(topic, () => this.#forget());
  }

  /** The one comparable spelling of an address that the store would accept; throws the store's refusal. */
  canonicalAddress(adapter: BlockAdapter, storageNamespace: string, uri: string): string | Promise<string> {
    const name = `${adapter.info.storageId} ${storageNamespace} ${uri}`;
    return this.#canonical.get(name) ?? this.#findAddress(name, adapter, storageNamespace, uri);
  }

  async #findAddress(
    name: string,
    adapter: BlockAdapter,
    storageNamespace: string,
    uri: string,
  ): Promise<string> {
    adapter.validateAddress({ storageNamespace, identifier: uri, identifierType: 'full' });
    const canonical = await adapter.canonicalUri(uri);
    this.#canonical.set(name, canonical);
    return canonical;
  }

  canonicalNamespace(adapter: BlockAdapter, uri: string): string | Promise<string> {
    const name = `${adapter.info.storageId} ${uri}`;
    return this.#canonical.get(name) ?? this.#findNamespace(name, adapter, uri);
  }

  async #findNamespace(name: string, adapter: BlockAdapter, uri: string): Promise<string> {
    const canonical = trimSlash(await adapter.canonicalUri(uri));
    this.#canonical.set(name, canonical);
    return canonical;
  }

  /** `uri` in its canonical spelling. */
  ownerOf(adapter: BlockAdapter, uri: string): string | undefined | Promise<string | undefined> {
    const known = this.#load(adapter.type);
    return known instanceof Promise ? known.then((found) => ownerIn(found, uri)) : ownerIn(known, uri);
  }

  /** As `ownerOf`, for whoever must know of a repository that another server has made just now. */
  async ownerNow(adapter: BlockAdapter, uri: string): Promise<string | undefined> {
    const owner = await this.ownerOf(adapter, uri);
    if (owner !== undefined) return owner;
    this.#known.delete(adapter.type);
    return this.ownerOf(adapter, uri);
  }

  /** The repositories of which something begins with `start`, a canonical spelling that may end inside of a name. */
  async ownersBelow(adapter: BlockAdapter, start: string): Promise<string[]> {
    const above = await this.ownerOf(adapter, trimSlash(start));
    const { owners } = await this.#load(adapter.type);
    const below = [...owners].filter(([namespace]) => `${namespace}/`.startsWith(start)).map(([, id]) => id);
    return above === undefined || below.includes(above) ? below : [above, ...below];
  }

  /** The namespace, if its data is to be deleted, of which something begins with `start`, or in which it lies. */
  waitingAt(adapter: BlockAdapter, start: string): string | undefined | Promise<string | undefined> {
    const known = this.#load(adapter.type);
    return known instanceof Promise
      ? known.then((found) => waitingIn(found, start))
      : waitingIn(known, start);
  }

  /** Makes every worker of this server look again. */
  async forget(storageId: string): Promise<void> {
    this.#forget();
    await this.#bus.publish(topic, storageId);
  }

  #forget(): void {
    this.#known.clear();
    this.#canonical.clear();
  }

  #load(type: BlockAdapter['type']): Known | Promise<Known> {
    const known = this.#known.get(type);
    if (known instanceof Promise || (known !== undefined && known.expires > this.#clock())) return known;
    const loading = this.#read(type);
    this.#known.set(type, loading);
    // What was forgotten meanwhile is not remembered.
    const isWanted = (): boolean => this.#known.get(type) === loading;
    loading.then(
      (found) => isWanted() && this.#known.set(type, found),
      () => isWanted() && this.#known.delete(type),
    );
    return loading;
  }

  /** Of all stores of a type: two of them may be two ways to one place. */
  async #read(type: BlockAdapter['type']): Promise<Known> {
    const expires = this.#clock() + lifetimeMs;
    const owners = new Map<string, string>();
    for await (const { canonical, repository } of formerNamespaces(this.#kv, this.#stores, type)) {
      owners.set(canonical, repository);
    }
    for await (const { id, storageId, storageNamespace } of this.#repositories.list('', '')) {
      const store = this.#stores.find(storageId);
      if (store?.type !== type) continue;
      owners.set(trimSlash(await store.canonicalUri(storageNamespace)), id);
    }
    const waiting: string[] = [];
    for await (const { repository, data } of listTrash({ kv: this.#kv })) {
      const store = this.#stores.find(repository.storageId);
      if (store?.type !== type || !data.deleteData || data.displacedBy !== '') continue;
      waiting.push(trimSlash(await store.canonicalUri(repository.storageNamespace)));
    }
    return { expires, owners, waiting };
  }

  close(): void {
    this.#unsubscribe();
  }
}

function ownerIn({ owners }: Known, uri: string): string | undefined {
  const start = uri.indexOf('://') + 3;
  for (let end = uri.indexOf('/', start); end >= 0; end = uri.indexOf('/', end + 1)) {
    const owner = owners.get(uri.slice(0, end));
    if (owner !== undefined) return owner;
  }
  return owners.get(uri);
}

function waitingIn({ waiting }: Known, start: string): string | undefined {
  if (waiting.length === 0) return undefined;
  return waiting.find((namespace) => `${namespace}/`.startsWith(start) || liesInside(start, namespace));
}
