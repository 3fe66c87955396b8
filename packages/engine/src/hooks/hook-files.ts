import { createHash } from 'node:crypto';
import { prefixSuccessor } from '@svc/encoding';
import type { KvEntry, KvStore } from '@svc/kv';
import { growingCache } from '../context/growing-cache.ts';
import type { CommittedTrees } from '../committed/tree.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { SharedReads } from '../store/shared-reads.ts';

/** A tree's answer is 200 bytes. */
const treesRemembered = 10_000;
/** Nobody has more files of hooks; beyond, they are looked for each time. */
const filesCompared = 1000;

/** Which files of hooks a tree holds: the same text for the same files. */
type FilesOfTree = string;
const noFiles: FilesOfTree = '';
const manyFiles: FilesOfTree = 'many';

interface Span {
  readonly from: Buffer;
  /** Exclusive. */
  readonly to: Buffer;
}

export interface StagedLook {
  readonly mayHold: boolean;
  /** The newest token holds something. When false it may hold something all the same. */
  readonly isDirty: boolean;
}

const nothingStaged: StagedLook = { mayHold: false, isDirty: false };

/** Watches staged changes go by; `saw` says that one may be of a file of hooks. */
export interface StagedWatch {
  readonly saw: boolean;
  readonly see: (page: readonly KvEntry[]) => void;
}

/**
 * Where files of hooks may be. Most repositories have none, and their operations must not pay for looking: trees never
 * change, so what is known of one stays known, and a new tree holds what went into it.
 */
export class HookFiles {
  readonly #kv: KvStore;
  readonly #trees: CommittedTrees;
  readonly #folders: readonly Span[];
  /** From the first folder to the last. */
  readonly #around: Span;
  readonly #looks: SharedReads<StagedLook>;
  readonly #ofTrees = growingCache<FilesOfTree>(treesRemembered);

  constructor(kv: KvStore, trees: CommittedTrees, folders: readonly string[], maxBatchDelayMs: number) {
    this.#kv = kv;
    this.#looks = new SharedReads(maxBatchDelayMs);
    this.#trees = trees;
    const spans = folders.map((folder) => spanOf(Buffer.from(folder)));
    this.#folders = spans.toSorted((left, right) => Buffer.compare(left.from, right.from));
    const nothing = Buffer.alloc(0);
    this.#around = { from: this.#folders[0]?.from ?? nothing, to: this.#folders.at(-1)?.to ?? nothing };
  }

  /** Which of such files a tree holds. */
  inTree(scope: RepositoryScope, metaRangeId: string): FilesOfTree | Promise<FilesOfTree> {
    return this.#ofTrees.get(metaRangeId) ?? this.#look(scope, metaRangeId);
  }

  /** Whether it is known at once that a tree holds none. */
  isKnownWithout(metaRangeId: string): boolean {
    return this.#ofTrees.get(metaRangeId) === noFiles;
  }

  isNone(files: FilesOfTree): boolean {
    return files === noFiles;
  }

  /** What hooks are told: the same text means the same files. */
  toldOf(files: FilesOfTree): string | undefined {
    return files === manyFiles ? undefined : files;
  }

  /** Whether such files may be among the staged changes of tokens, newest first. */
  lookAtStaged(tokens: readonly Buffer[]): StagedLook | Promise<StagedLook> {
    if (tokens.length === 0) return nothingStaged;
    // Where a read does not wait, it costs less than sharing one.
    if (this.#kv.firstKeyAtOnce !== undefined) return this.#lookAtOnce(tokens);
    return this.#looks.read(tokens.join('/'), () => this.#lookAtStaged(tokens));
  }

  #lookAtOnce(tokens: readonly Buffer[]): StagedLook {
    let isDirty = false;
    for (const [index, token] of tokens.entries()) {
      const first = this.#kv.firstKeyAtOnce?.(token, this.#around.from);
      if (first === undefined) continue;
      if (index === 0) isDirty = true;
      if (Buffer.compare(first, this.#around.to) < 0) return { mayHold: true, isDirty };
    }
    return { mayHold: false, isDirty };
  }

  async #lookAtStaged(tokens: readonly Buffer[]): Promise<StagedLook> {
    let isDirty = false;
    for (const [index, token] of tokens.entries()) {
      for await (const [first] of this.#kv.scan(token, { start: this.#around.from, batch: 1 })) {
        if (index === 0) isDirty = true;
        if (first !== undefined && Buffer.compare(first.key, this.#around.to) < 0)
          return { mayHold: true, isDirty };
        break;
      }
    }
    return { mayHold: false, isDirty };
  }

  watchStaged(): StagedWatch {
    const { from, to } = this.#around;
    const watch = {
      saw: false,
      see(page: readonly KvEntry[]): void {
        const last = page.at(-1);
        const first = page[0];
        if (watch.saw || first === undefined || last === undefined) return;
        if (Buffer.compare(last.key, from) < 0 || Buffer.compare(first.key, to) >= 0) return;
        watch.saw = page.some(({ key }) => Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) < 0);
      },
    };
    return watch;
  }

  /** A new tree made of `parts`: when all of them hold the same of such files, so does it. */
  async noteMade(scope: RepositoryScope, metaRangeId: string, parts: readonly string[]): Promise<void> {
    if (this.#ofTrees.has(metaRangeId)) return;
    try {
      const held = new Set<FilesOfTree>();
      for (const part of parts) held.add(await this.inTree(scope, part));
      const [files] = held;
      if (files !== undefined && held.size === 1 && files !== manyFiles)
        this.#ofTrees.set(metaRangeId, files);
    } catch {
      // Unreadable where nobody else had to read it: nothing is known of the new tree.
    }
  }

  async #look(scope: RepositoryScope, metaRangeId: string): Promise<FilesOfTree> {
    const hash = createHash('sha256');
    let count = 0;
    for (const { from, to } of this.#folders) {
      const records = this.#trees.iterate(scope.committed, metaRangeId, from, to);
      try {
        while (count <= filesCompared && (await records.next()) && Buffer.compare(records.key, to) < 0) {
          count += 1;
          hash.update(`${records.key.toString('hex')} ${records.identity.toString('hex')} `);
        }
      } finally {
        records.close();
      }
    }
    const files = count === 0 ? noFiles : count > filesCompared ? manyFiles : hash.digest('base64');
    this.#ofTrees.set(metaRangeId, files);
    return files;
  }
}

function spanOf(folder: Buffer): Span {
  const to = prefixSuccessor(folder);
  if (to === undefined) throw new TypeError('a folder of hooks cannot be empty');
  return { from: folder, to };
}
