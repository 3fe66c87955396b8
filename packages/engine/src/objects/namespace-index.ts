import type { CacheBus } from '@svc/kv';
import type { BlockAdapter } from '@svc/block';
import { trimSlash } from '../repositories/namespaces.ts';
import type { RepositoryStore } from '../store/repository-store.ts';

const topic = 'engine/namespaces';
const lifetimeMs = 5000;

interface Known {
  readonly expires: number;
  /** Canonical namespace to repository. */
  readonly owners: ReadonlyMap<string, string>;
}

/** Finds the repository in whose namespace an address lies. A few seconds old at most. */
export class NamespaceIndex {
  readonly #repositories: RepositoryStore;
  readonly #bus: CacheBus;
  readonly #clock: () => number;
  readonly #known = new Map<string, Promise<Known>>();
  readonly #unsubscribe: () => void;

  constructor(repositories: RepositoryStore, bus: CacheBus, clock: () => number) {
    this.#repositories = repositories;
    this.#bus = bus;
    this.#clock = clock;
    this.#unsubscribe = bus.subscribe(topic, (storageId) => this.#known.delete(storageId));
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
    this.#known.delete(storageId);
    await this.#bus.publish(topic, storageId);
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
