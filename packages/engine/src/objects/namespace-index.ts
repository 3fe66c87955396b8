import type { BlockAdapter } from '@svc/block';
import type { CacheBus } from '@svc/kv';
import { LRUCache } from 'lru-cache';
import { trimSlash } from '../repositories/namespaces.ts';
import type { RepositoryStore } from '../store/repository-store.ts';

const topic = 'engine/namespaces';
const lifetimeMs = 5000;

interface Known {
  readonly expires: number;
  /** Canonical namespace to repository. */
  readonly owners: ReadonlyMap<string, string>;
}

/**
 * Finds the repository in whose namespace an address lies. What it knows is a few seconds old at most; comparing
 * real paths on the local store costs several system calls, so spellings are remembered that long, too.
 */
export class NamespaceIndex {
  readonly #repositories: RepositoryStore;
  readonly #bus: CacheBus;
  readonly #clock: () => number;
  readonly #known = new Map<string, Promise<Known>>();
  readonly #canonical = new LRUCache<string, string>({ max: 10_000, ttl: lifetimeMs, ttlResolution: 100 });
  readonly #unsubscribe: () => void;

  constructor(repositories: RepositoryStore, bus: CacheBus, clock: () => number) {
    this.#repositories = repositories;
    this.#bus = bus;
    this.#clock = clock;
    this.#unsubscribe = bus.subscribe(topic, (storageId) => this.#forget(storageId));
  }

  /** The one comparable spelling of an address that the store would accept; throws the store's refusal. */
  async canonicalAddress(adapter: BlockAdapter, storageNamespace: string, uri: string): Promise<string> {
    const name = `${adapter.info.storageId} ${storageNamespace} ${uri}`;
    const known = this.#canonical.get(name);
    if (known !== undefined) return known;
    adapter.validateAddress({ storageNamespace, identifier: uri, identifierType: 'full' });
    const canonical = await adapter.canonicalUri(uri);
    this.#canonical.set(name, canonical);
    return canonical;
  }

  async canonicalNamespace(adapter: BlockAdapter, uri: string): Promise<string> {
    const name = `${adapter.info.storageId} ${uri}`;
    const known = this.#canonical.get(name);
    if (known !== undefined) return known;
    const canonical = trimSlash(await adapter.canonicalUri(uri));
    this.#canonical.set(name, canonical);
    return canonical;
  }

  /** `uri` in its canonical spelling. */
  async ownerOf(adapter: BlockAdapter, storageId: string, uri: string): Promise<string | undefined> {
    const { owners } = await this.#load(adapter, storageId);
    const start = uri.indexOf('://') + 3;
    for (let end = uri.indexOf('/', start); end >= 0; end = uri.indexOf('/', end + 1)) {
      const owner = owners.get(uri.slice(0, end));
      if (owner !== undefined) return owner;
    }
    return owners.get(uri);
  }

  /** Makes every worker of this server look again. */
  async forget(storageId: string): Promise<void> {
    this.#forget(storageId);
    await this.#bus.publish(topic, storageId);
  }

  #forget(storageId: string): void {
    this.#known.delete(storageId);
    this.#canonical.clear();
  }

  async #load(adapter: BlockAdapter, storageId: string): Promise<Known> {
    const known = this.#known.get(storageId);
    if (known !== undefined && (await known).expires > this.#clock()) return known;
    const loading = this.#read(adapter, storageId);
    this.#known.set(storageId, loading);
    loading.catch(() => this.#known.delete(storageId));
    return loading;
  }

  async #read(adapter: BlockAdapter, storageId: string): Promise<Known> {
    const expires = this.#clock() + lifetimeMs;
    const owners = new Map<string, string>();
    for await (const data of this.#repositories.list('', '')) {
      if (data.storageId !== storageId) continue;
      owners.set(trimSlash(await adapter.canonicalUri(data.storageNamespace)), data.id);
    }
    return { expires, owners };
  }

  close(): void {
    this.#unsubscribe();
  }
}
