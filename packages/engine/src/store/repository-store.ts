import type { RepositoryData } from '@svc/encoding';
import { repositoryInDeletion, repositoryMessage } from '@svc/encoding';
import type { CacheBus, KvExpectation, KvPredicate, KvStore, KvWrite } from '@svc/kv';
import { JitterCache } from '../context/jitter-cache.ts';
import { notFound } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { Repository } from '../face/model.ts';
import type { EngineSettings } from '../face/options.ts';
import type { PlannedMove } from '../moves/move-log.ts';
import { checkRepositoryName } from '../names/names.ts';
import { gravelerPartition, repositoriesPrefix, repositoryKey, repositoryPartition } from './keys.ts';
import type { RepositoryScope } from './scope.ts';
import { SharedReads } from './shared-reads.ts';

const topic = 'engine/repository';

export interface StoredRepository {
  readonly data: RepositoryData;
  readonly predicate: KvPredicate;
}

/** Repository records; active ones are cached for a few seconds. */
export class RepositoryStore {
  readonly #kv: KvStore;
  readonly #bus: CacheBus;
  readonly #settings: EngineSettings;
  readonly #cache: JitterCache<RepositoryScope>;
  /** Of the repositories handed out: whoever has one need not open it again. */
  readonly #scopes = new WeakMap<Repository, RepositoryScope>();
  readonly #reads: SharedReads<StoredRepository | undefined>;
  readonly #unsubscribe: () => void;

  constructor(kv: KvStore, bus: CacheBus, settings: EngineSettings) {
    this.#kv = kv;
    this.#bus = bus;
    this.#settings = settings;
    this.#cache = new JitterCache(settings.repositoryCache);
    this.#reads = new SharedReads(settings.maxBatchDelayMs);
    this.#unsubscribe = bus.subscribe(topic, (id) => this.#cache.delete(id));
  }

  /** As `open`, without waiting: undefined when it is not in memory. */
  openAtOnce(id: string): RepositoryScope | undefined {
    return this.#cache.get(id);
  }

  /** An active repository, possibly a few seconds old. */
  async open(id: string): Promise<RepositoryScope> {
    return this.#cache.get(id) ?? (await this.#load(id));
  }

  async #load(id: string): Promise<RepositoryScope> {
    checkRepositoryName(id);
    const stored = await this.#reads.read(id, () => this.read(id));
    if (stored === undefined) throw notFound('repository');
    if (stored.data.state === repositoryInDeletion) throw inDeletion();
    const scope = this.scopeOf(stored.data);
    this.#cache.set(id, scope);
    this.#scopes.set(scope.repository, scope);
    return scope;
  }

  /** What `open` gave with this repository. */
  scopeOfOpened(repository: Repository | undefined): RepositoryScope | undefined {
    return repository === undefined ? undefined : this.#scopes.get(repository);
  }

  /** The record as it is now, in any state. */
  async read(id: string): Promise<StoredRepository | undefined> {
    const found = await this.#kv.get(gravelerPartition, repositoryKey(id));
    if (found === undefined) return undefined;
    return { data: repositoryMessage.decode(found.value), predicate: found.predicate };
  }

  create(data: RepositoryData, move: PlannedMove): Promise<boolean> {
    const key = repositoryKey(data.id);
    const value = repositoryMessage.encode(data);
    return this.#kv.change(gravelerPartition, { key, condition: 'absent' }, [
      { type: 'put', key, value },
      ...move.writes,
    ]);
  }

  /** The record goes, and so does what else belongs to it: all as one step. */
  removeWith(stored: StoredRepository, writes: readonly KvWrite[]): Promise<boolean> {
    const key = repositoryKey(stored.data.id);
    return this.#kv.change(gravelerPartition, { key, condition: stored.predicate }, [
      { type: 'delete', key },
      ...writes,
    ]);
  }

  /** The record comes back, if nobody has the name. */
  addWith(data: RepositoryData, writes: readonly KvWrite[], still: KvExpectation): Promise<boolean> {
    const key = repositoryKey(data.id);
    const value = repositoryMessage.encode(data);
    const put: KvWrite = { type: 'put', key, value };
    return this.#kv.change(gravelerPartition, { key, condition: 'absent' }, [put, ...writes], still);
  }

  /** As `replace`, recorded as a move. */
  move(stored: StoredRepository, data: RepositoryData, move: PlannedMove): Promise<boolean> {
    const key = repositoryKey(data.id);
    const value = repositoryMessage.encode(data);
    return this.#kv.change(gravelerPartition, { key, condition: stored.predicate }, [
      { type: 'put', key, value },
      ...move.writes,
    ]);
  }

  replace(stored: StoredRepository, data: RepositoryData): Promise<boolean> {
    const value = repositoryMessage.encode(data);
    return this.#kv.setIf(gravelerPartition, repositoryKey(data.id), value, stored.predicate);
  }

  /** Makes every worker of this server forget its copy. */
  async forget(id: string): Promise<void> {
    this.#cache.delete(id);
    await this.#bus.publish(topic, id);
  }

  async *list(prefix: string, after: string): AsyncGenerator<RepositoryData> {
    const start = Buffer.concat([repositoriesPrefix, Buffer.from(prefix)]);
    const options = after === '' ? { prefix: start } : { prefix: start, after: repositoryKey(after) };
    for await (const page of this.#kv.scan(gravelerPartition, options)) {
      for (const entry of page) yield repositoryMessage.decode(entry.value);
    }
  }

  toRepository(data: RepositoryData): Repository {
    return {
      id: data.id,
      storageId: data.storageId,
      storageNamespace: data.storageNamespace,
      defaultBranch: data.defaultBranchId,
      creationDate: data.creationDate,
      state: data.state === repositoryInDeletion ? 'in_deletion' : 'active',
      instanceUid: data.instanceUid,
      readOnly: data.readOnly,
      metadataPrefix: data.metadataPrefix === '' ? this.#settings.metadataPrefix : data.metadataPrefix,
    };
  }

  scopeOf(data: RepositoryData): RepositoryScope {
    const repository = this.toRepository(data);
    return {
      repository,
      partition: repositoryPartition(repository.id, repository.instanceUid),
      committed: {
        storageId: repository.storageId,
        storageNamespace: repository.storageNamespace,
        metadataPrefix: repository.metadataPrefix,
      },
    };
  }

  close(): void {
    this.#unsubscribe();
  }
}

export function inDeletion(): EngineError {
  return new EngineError('in_deletion', 'repository in deletion', { subject: 'repository' });
}
