import type { BlockStores } from '@svc/block';
import {
  branchMessage,
  commitId,
  commitMessage,
  repositoryInDeletion,
  repositoryMessage,
  tagMessage,
} from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import { BlockTables } from '../committed/store/block-tables.ts';
import type { Commit } from '../face/model.ts';
import { notFound } from '../context/refusals.ts';
import {
  branchesPrefix,
  commitKey,
  commitsPrefix,
  gravelerPartition,
  repositoriesPrefix,
  repositoryKey,
  repositoryPartition,
  tagsPrefix,
} from '../store/keys.ts';
import type { ConcernedFinding, DamageFinding, Finding } from './finding.ts';
import { IdSet, isContentId } from './id-set.ts';
import { ObjectVerifier } from './object-verifier.ts';
import { StoredTables } from './stored-tables.ts';
import { TreeVerifier } from './tree-verifier.ts';

export interface VerifyParts {
  readonly kv: KvStore;
  readonly blockStores: BlockStores;
  /** Of repositories that name none. */
  readonly metadataPrefix: string;
  /** Tables lie here while they are read. */
  readonly temporaryFolder: string;
  /** Also reads the data of every object that a branch or tag shows. */
  readonly readsObjects?: boolean | undefined;
}

/** The names of all repositories that are not being deleted. */
export async function* repositoryNames(kv: KvStore): AsyncGenerator<string> {
  for await (const page of kv.scan(gravelerPartition, { prefix: repositoriesPrefix })) {
    for (const { value } of page) {
      const { id, state } = repositoryMessage.decode(value);
      if (state !== repositoryInDeletion) yield id;
    }
  }
}

/** How far a verification is; counts what was read. */
export interface VerifyProgress {
  commits: number;
  metaRanges: number;
  ranges: number;
  objects: number;
  bytes: number;
}

/**
 * Reads everything committed in a repository, each table once and from the block store itself, and yields each
 * finding as it goes. Memory grows by some eighty bytes for each commit, metarange and range.
 */
export async function* verifyRepository(
  parts: VerifyParts,
  repository: string,
  progress: VerifyProgress,
): AsyncGenerator<Finding> {
  const { kv } = parts;
  const stored = await kv.get(gravelerPartition, repositoryKey(repository));
  if (stored === undefined) throw notFound('repository');
  const { instanceUid, storageId, storageNamespace, metadataPrefix } = repositoryMessage.decode(stored.value);
  const place = {
    storageId,
    storageNamespace,
    metadataPrefix: metadataPrefix === '' ? parts.metadataPrefix : metadataPrefix,
  };
  const tables = new StoredTables(new BlockTables(parts.blockStores), place, parts.temporaryFolder);
  const adapter = parts.blockStores.get(storageId);
  const run = new RepositoryRun({
    kv,
    repository,
    partition: repositoryPartition(repository, instanceUid),
    tables,
    progress,
    objects:
      parts.readsObjects === true
        ? new ObjectVerifier({ repository, storageNamespace, adapter, tables, progress })
        : undefined,
  });
  yield* run.commits();
  yield* run.parents();
  yield* run.refs('branch');
  yield* run.refs('tag');
}

interface RunParts {
  readonly kv: KvStore;
  readonly repository: string;
  readonly partition: Buffer;
  readonly tables: StoredTables;
  readonly progress: VerifyProgress;
  /** Absent where the data of objects is not read. */
  readonly objects: ObjectVerifier | undefined;
}

class RepositoryRun {
  readonly #parts: RunParts;
  readonly #trees: TreeVerifier;
  readonly #known = new IdSet();

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#trees = new TreeVerifier(parts.repository, parts.tables, parts.progress);
  }

  /** Every commit and what its tree is made of. */
  async *commits(): AsyncGenerator<Finding> {
    for await (const { id, commit } of this.#scanCommits()) {
      if (commit === undefined) {
        yield this.#damage('commit', id, 'damaged', 'its record cannot be read');
        continue;
      }
      this.#parts.progress.commits++;
      if (isContentId(id)) this.#known.add(id);
      if (commitId(commit) !== id)
        yield this.#damage('commit', id, 'damaged', `its record is the one of ${commitId(commit)}`);
      if (commit.metaRangeId === '') continue;
      yield* this.#trees.verify(commit.metaRangeId);
      const tables = this.#trees.damagedIn(commit.metaRangeId);
      if (tables.length > 0) yield this.#concerned('commit', id, id, tables);
    }
  }

  /** Commits that commits name as their parents. */
  async *parents(): AsyncGenerator<Finding> {
    const told = new Set<string>();
    for await (const { id, commit } of this.#scanCommits()) {
      for (const parent of commit?.parents ?? []) {
        if ((isContentId(parent) && this.#known.has(parent)) || told.has(parent)) continue;
        // It may have been made since the commits were read.
        if (await this.#exists(parent)) continue;
        told.add(parent);
        yield this.#damage('commit', parent, 'missing', `commit ${id} names it as a parent`);
      }
    }
  }

  async *refs(kind: 'branch' | 'tag'): AsyncGenerator<Finding> {
    const { kv, partition } = this.#parts;
    const prefix = kind === 'branch' ? branchesPrefix : tagsPrefix;
    for await (const page of kv.scan(partition, { prefix })) {
      for (const { key, value } of page) {
        const name = key.toString('utf8', prefix.length);
        const named = decoded(() => (kind === 'branch' ? branchMessage : tagMessage).decode(value).commitId);
        if (named === undefined) {
          yield this.#damage(kind, name, 'damaged', 'its record cannot be read');
          continue;
        }
        const found = await kv.get(partition, commitKey(named));
        if (found === undefined) {
          yield this.#damage(kind, name, 'damaged', `the commit ${named} that it names is missing`);
          continue;
        }
        const commit = decoded(() => commitMessage.decode(found.value));
        if (commit === undefined) continue;
        const tables = this.#trees.damagedIn(commit.metaRangeId);
        if (tables.length > 0) yield this.#concerned(kind, name, named, tables);
        const { objects } = this.#parts;
        if (objects !== undefined) yield* objects.verify(commit.metaRangeId, `${kind} "${name}"`);
      }
    }
  }

  async *#scanCommits(): AsyncGenerator<{ id: string; commit: Commit | undefined }> {
    const { kv, partition } = this.#parts;
    for await (const page of kv.scan(partition, { prefix: commitsPrefix })) {
      for (const { key, value } of page) {
        const id = key.toString('utf8', commitsPrefix.length);
        yield { id, commit: decoded(() => commitMessage.decode(value)) };
      }
    }
  }

  async #exists(id: string): Promise<boolean> {
    return (await this.#parts.kv.get(this.#parts.partition, commitKey(id))) !== undefined;
  }

  #damage(
    kind: 'commit' | 'branch' | 'tag',
    id: string,
    problem: 'missing' | 'damaged',
    reason: string,
  ): DamageFinding {
    return { type: 'damage', repository: this.#parts.repository, kind, id, problem, reason, lost: [] };
  }

  #concerned(
    kind: 'commit' | 'branch' | 'tag',
    id: string,
    named: string,
    tables: readonly string[],
  ): ConcernedFinding {
    return { type: 'concerned', repository: this.#parts.repository, kind, id, commitId: named, tables };
  }
}

function decoded<Value>(decode: () => Value): Value | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
