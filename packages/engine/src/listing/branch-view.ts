import type { ChangeIterator, RecordIterator, RecordPlace } from '../committed/tree.ts';

/** `wanted`: to be read; `record`: stands on one; `ended`. */
type SideState = 'wanted' | 'record' | 'ended';

/** Changes over a tree as one sorted run of the records a reader sees: newest wins, deleted keys are left out. */
export class BranchView implements RecordIterator {
  readonly #changes: ChangeIterator;
  readonly #tree: RecordIterator;
  #changeState: SideState = 'wanted';
  #treeState: SideState = 'wanted';
  #shown: RecordIterator;

  constructor(changes: ChangeIterator, tree: RecordIterator) {
    this.#changes = changes;
    this.#tree = tree;
    this.#shown = tree;
  }

  get key(): Buffer {
    return this.#shown.key;
  }

  get identity(): Buffer {
    return this.#shown.identity;
  }

  get data(): Buffer {
    return this.#shown.data;
  }

  get place(): RecordPlace | undefined {
    return this.#shown.place;
  }

  next(): boolean | Promise<boolean> {
    for (;;) {
      const wait = this.#fill();
      if (wait !== undefined) return wait.then(() => this.#pickOrNext());
      const picked = this.#pick();
      if (picked !== undefined) return picked;
    }
  }

  seek(key: Uint8Array): void {
    this.#changes.seek(key);
    this.#tree.seek(key);
    this.#changeState = 'wanted';
    this.#treeState = 'wanted';
  }

  close(): void {
    this.#changes.close();
    this.#tree.close();
  }

  #pickOrNext(): boolean | Promise<boolean> {
    return this.#pick() ?? this.next();
  }

  #fill(): Promise<void> | undefined {
    let waits: Promise<void> | undefined;
    if (this.#changeState === 'wanted') {
      const more = this.#changes.next();
      if (typeof more === 'boolean') this.#changeState = more ? 'record' : 'ended';
      else {
        waits = more.then((found) => {
          this.#changeState = found ? 'record' : 'ended';
        });
        // Should the tree fail meanwhile, nobody waits for this any more.
        waits.catch(() => undefined);
      }
    }
    if (this.#treeState !== 'wanted') return waits;
    const more = this.#tree.next();
    if (typeof more === 'boolean') {
      this.#treeState = more ? 'record' : 'ended';
      return waits;
    }
    const tree = more.then((found) => {
      this.#treeState = found ? 'record' : 'ended';
    });
    return waits === undefined ? tree : Promise.all([waits, tree]).then(() => undefined);
  }

  /** True on a record to show, false at the end, undefined when a tombstone was passed. */
  #pick(): boolean | undefined {
    if (this.#changeState === 'ended') {
      if (this.#treeState === 'ended') return false;
      this.#treeState = 'wanted';
      this.#shown = this.#tree;
      return true;
    }
    const order = this.#treeState === 'ended' ? -1 : Buffer.compare(this.#changes.key, this.#tree.key);
    if (order > 0) {
      this.#treeState = 'wanted';
      this.#shown = this.#tree;
      return true;
    }
    if (order === 0) this.#treeState = 'wanted';
    this.#changeState = 'wanted';
    if (this.#changes.identity.length === 0) return undefined;
    this.#shown = this.#changes;
    return true;
  }
}
