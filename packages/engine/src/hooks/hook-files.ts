import { prefixSuccessor } from '@svc/encoding';
import type { KvEntry, KvStore } from '@svc/kv';
import { LRUCache } from 'lru-cache';
import type { CommittedTrees } from '../committed/tree.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { SharedReads } from '../store/shared-reads.ts';

/** A tree's answer is 100 bytes. */
const treesRemembered = 10_000;

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
  readonly #ofTrees = new LRUCache<string, boolean>({ max: treesRemembered });

  constructor(kv: KvStore, trees: CommittedTrees, folders: readonly string[], maxBatchDelayMs: number) {
    this.#kv = kv;
    this.#looks = new SharedReads(maxBatchDelayMs);
    this.#trees = trees;
    const spans = folders.map((folder) => spanOf(Buffer.from(folder)));
    this.#folders = spans.toSorted((left, right) => Buffer.compare(left.from, right.from));
    const nothing = Buffer.alloc(0);
    this.#around = { from: this.#folders[0]?.from ?? nothing, to: this.#folders.at(-1)?.to ?? nothing };
  }

  /** Whether a tree holds such files. */
  inTree(scope: RepositoryScope, metaRangeId: string): boolean | Promise<boolean> {
    return this.#ofTrees.get(metaRangeId) ?? this.#look(scope, metaRangeId);
  }

  /** Whether such files may be among the staged changes of tokens, newest first. */
  lookAtStaged(tokens: readonly Buffer[]): Promise<StagedLook> {
    // Where a read does not wait, it costs less than sharing one.
    if (this.#kv.valueAtOnce !== undefined) return this.#lookAtStaged(tokens);
    return this.#looks.read(tokens.join('/'), () => this.#lookAtStaged(tokens));
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

  /** A new tree whose keys all come from `parts`: when none of them holds such files, neither does it. */
  async noteMade(scope: RepositoryScope, metaRangeId: string, parts: readonly string[]): Promise<void> {
    if (this.#ofTrees.has(metaRangeId)) return;
    try {
      for (const part of parts) if (await this.inTree(scope, part)) return;
    } catch {
      // Unreadable where nobody else had to read it: nothing is known of the new tree.
      return;
    }
    this.#ofTrees.set(metaRangeId, false);
  }

  async #look(scope: RepositoryScope, metaRangeId: string): Promise<boolean> {
    let holds = false;
    for (const { from, to } of this.#folders) {
      const records = this.#trees.iterate(scope.committed, metaRangeId, from, to);
      try {
        holds ||= (await records.next()) && Buffer.compare(records.key, to) < 0;
      } finally {
        records.close();
      }
    }
    this.#ofTrees.set(metaRangeId, holds);
    return holds;
  }
}

function spanOf(folder: Buffer): Span {
  const to = prefixSuccessor(folder);
  if (to === undefined) throw new TypeError('a folder of hooks cannot be empty');
  return { from: folder, to };
}
