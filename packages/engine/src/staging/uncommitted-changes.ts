import type { DiffIterator, DiffType, RecordIterator } from '../committed/tree.ts';
import type { EngineContext } from '../context/engine-context.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { Overlay } from './overlay.ts';

/**
 * The changes of an overlay that have an effect on a tree: not re-uploads of equal content, not deletions of keys
 * the tree does not have. A removed item shows the tree's record.
 */
export class UncommittedChanges implements DiffIterator {
  readonly #overlay: Overlay;
  readonly #tree: RecordIterator;
  #treeState: 'unread' | 'record' | 'ended' = 'unread';
  type: DiffType = 'added';

  constructor(overlay: Overlay, tree: RecordIterator) {
    this.#overlay = overlay;
    this.#tree = tree;
  }

  get key(): Buffer {
    return this.#overlay.key;
  }

  get identity(): Buffer {
    return this.type === 'removed' ? this.#tree.identity : this.#overlay.identity;
  }

  get data(): Buffer {
    return this.type === 'removed' ? this.#tree.data : this.#overlay.data;
  }

  next(): boolean | Promise<boolean> {
    for (;;) {
      const more = this.#overlay.next();
      if (more instanceof Promise) return more.then((found) => (found ? this.#effectiveOrNext() : false));
      if (!more) return false;
      const effective = this.#compare();
      if (effective instanceof Promise) return effective.then((yes) => (yes ? true : this.next()));
      if (effective) return true;
    }
  }

  seek(key: Uint8Array): void {
    this.#overlay.seek(key);
    this.#treeState = 'unread';
  }

  close(): void {
    this.#overlay.close();
    this.#tree.close();
  }

  #effectiveOrNext(): boolean | Promise<boolean> {
    const effective = this.#compare();
    if (effective instanceof Promise) return effective.then((yes) => (yes ? true : this.next()));
    return effective ? true : this.next();
  }

  /** Brings the tree to the change's key and decides whether the change has an effect. */
  #compare(): boolean | Promise<boolean> {
    if (this.#treeState === 'ended') return this.#judge(false);
    if (this.#treeState === 'record') {
      const order = Buffer.compare(this.#tree.key, this.#overlay.key);
      if (order >= 0) return this.#judge(order === 0);
    }
    this.#tree.seek(this.#overlay.key);
    const more = this.#tree.next();
    return more instanceof Promise ? more.then((found) => this.#positioned(found)) : this.#positioned(more);
  }

  #positioned(found: boolean): boolean {
    this.#treeState = found ? 'record' : 'ended';
    return this.#judge(found && this.#tree.key.equals(this.#overlay.key));
  }

  #judge(committed: boolean): boolean {
    if (this.#overlay.tombstone) {
      this.type = 'removed';
      return committed;
    }
    this.type = committed ? 'changed' : 'added';
    return !committed || !this.#overlay.identity.equals(this.#tree.identity);
  }
}

/** The effective changes of `tokens` over the tree of `commitId`, from `from` on. */
export async function uncommittedChanges(
  context: EngineContext,
  scope: RepositoryScope,
  tokens: readonly Buffer[],
  commitId: string,
  range: { readonly from?: Uint8Array; readonly prefix?: Uint8Array } = {},
): Promise<UncommittedChanges> {
  const commit = await context.commits.get(scope, commitId);
  return new UncommittedChanges(
    new Overlay(context.kv, tokens, range),
    context.trees.iterate(scope.committed, commit.metaRangeId, range.from),
  );
}

export async function hasUncommittedChanges(
  context: EngineContext,
  scope: RepositoryScope,
  tokens: readonly Buffer[],
  commitId: string,
): Promise<boolean> {
  if (tokens.length === 0) return false;
  const changes = await uncommittedChanges(context, scope, tokens, commitId);
  try {
    return await changes.next();
  } finally {
    changes.close();
  }
}
