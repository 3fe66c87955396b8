import { commitId, commitMessage } from '@svc/encoding';
import type { KvExpectation, KvRecord, KvStore } from '@svc/kv';
import { JitterCache } from '../context/jitter-cache.ts';
import { notFound } from '../context/refusals.ts';
import type { Commit } from '../face/model.ts';
import type { EngineSettings } from '../face/options.ts';
import { commitKey, commitsPrefix } from './keys.ts';
import type { RepositoryScope } from './scope.ts';

/** Commit records: content-addressed and immutable, so a cached one is never wrong. Never change a commit read. */
export class CommitStore {
  readonly #kv: KvStore;
  readonly #cache: JitterCache<Commit>;
  readonly #loads = new Map<string, Promise<Commit | undefined>>();

  constructor(kv: KvStore, settings: EngineSettings) {
    this.#kv = kv;
    this.#cache = new JitterCache(settings.commitCache);
  }

  /** As `get`, without waiting: undefined when it is not in memory. */
  getAtOnce(scope: RepositoryScope, id: string): Commit | undefined {
    return this.#cache.get(nameOf(scope, id));
  }

  async find(scope: RepositoryScope, id: string): Promise<Commit | undefined> {
    const name = nameOf(scope, id);
    const known = this.#cache.get(name);
    if (known !== undefined) return known;
    // A commit that somebody else finds is the one; that there was none when they began to look says nothing.
    return (await this.#loads.get(name)) ?? (await this.#load(name, scope, id));
  }

  async get(scope: RepositoryScope, id: string): Promise<Commit> {
    const commit = await this.find(scope, id);
    if (commit === undefined) throw notFound('commit');
    return commit;
  }

  #load(name: string, scope: RepositoryScope, id: string): Promise<Commit | undefined> {
    const load = this.#read(name, scope, id).finally(() => {
      if (this.#loads.get(name) === load) this.#loads.delete(name);
    });
    this.#loads.set(name, load);
    return load;
  }

  async #read(name: string, scope: RepositoryScope, id: string): Promise<Commit | undefined> {
    const found = await this.#kv.get(scope.partition, commitKey(id));
    if (found === undefined) return undefined;
    const commit = commitMessage.decode(found.value);
    this.#cache.set(name, commit);
    return commit;
  }

  /** It has just been stored. */
  remember(scope: RepositoryScope, commit: Commit): void {
    this.#cache.set(nameOf(scope, commit.id), commit);
  }

  /** Its record was deleted: nothing led to it. */
  forget(scope: RepositoryScope, id: string): void {
    this.#cache.delete(nameOf(scope, id));
  }

  /** False when a commit of that id exists: an equal one, so it is the same commit. */
  add(scope: RepositoryScope, commit: Commit, still?: KvExpectation): Promise<boolean> {
    const { key, value } = commitRecord(commit);
    if (still === undefined) return this.#kv.setIf(scope.partition, key, value, 'absent');
    return this.#kv.change(
      scope.partition,
      { key, condition: 'absent' },
      [{ type: 'put', key, value }],
      still,
    );
  }

  /** The only commit whose id starts with `prefix`. */
  async findByPrefix(scope: RepositoryScope, prefix: string): Promise<Commit | undefined> {
    const matches: Commit[] = [];
    for await (const page of this.#kv.scan(scope.partition, { prefix: commitKey(prefix), batch: 2 })) {
      for (const entry of page) matches.push(commitMessage.decode(entry.value));
      if (matches.length > 1) return undefined;
    }
    return matches[0];
  }

  /** All commits in id order, dangling ones included. */
  async *list(scope: RepositoryScope): AsyncGenerator<Commit> {
    for await (const page of this.#kv.scan(scope.partition, { prefix: commitsPrefix })) {
      for (const entry of page) yield commitMessage.decode(entry.value);
    }
  }
}

/** The commit with its id; it is not stored yet. */
export function makeCommit(fields: Omit<Commit, 'id'>): Commit {
  return { ...fields, id: commitId(fields) };
}

export function commitRecord(commit: Commit): KvRecord {
  return { key: commitKey(commit.id), value: commitMessage.encode(commit) };
}

/** By instance, not by name: a re-created repository must not see its predecessor's commits. */
function nameOf(scope: RepositoryScope, id: string): string {
  return `${scope.repository.instanceUid}/${id}`;
}
