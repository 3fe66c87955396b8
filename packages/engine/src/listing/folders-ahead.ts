import { prefixSuccessor, startsWithBytes } from '@svc/encoding';
import type { RecordIterator } from '../committed/tree.ts';
import type { JumpsAhead } from '../staging/token-scan.ts';
import { foldEnd, type Walk } from './key-range.ts';

/** Behind each committed folder of a walk: there the reader of the page jumps to, if nothing staged lies between. */
export class FoldersAhead implements JumpsAhead {
  readonly #open: () => RecordIterator;
  readonly #walk: Walk;
  #tree: RecordIterator | undefined;
  #known: Buffer[] = [];
  /** Items that the page may still hold. */
  #left: number;
  /** Several scans ask at once, and the tree is read by one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  /** `open` is called when somebody asks. */
  constructor(open: () => RecordIterator, walk: Walk, amount: number) {
    this.#open = open;
    this.#walk = walk;
    this.#left = amount;
  }

  after(key: Buffer, most: number): Promise<readonly Buffer[]> {
    const found = this.#turn.then(() => this.#find(key, most));
    this.#turn = found.catch(() => undefined);
    return found;
  }

  close(): void {
    this.#tree?.close();
  }

  async #find(key: Buffer, most: number): Promise<readonly Buffer[]> {
    this.#known = this.#known.filter((jump) => Buffer.compare(jump, key) > 0);
    const tree = (this.#tree ??= this.#open());
    if (this.#known.length === 0) tree.seek(key);
    while (this.#known.length < most && this.#left > 0) {
      const more = tree.next();
      const hasMore = typeof more === 'boolean' ? more : await more;
      const jump = hasMore ? this.#behindFolder(tree) : 'end';
      if (jump === 'end') this.#left = 0;
      else this.#left -= 1;
      if (!Buffer.isBuffer(jump)) continue;
      this.#known.push(jump);
      tree.seek(jump);
    }
    return this.#known.slice(0, most);
  }

  /** Undefined for an object that is no folder's. */
  #behindFolder({ key }: RecordIterator): Buffer | 'end' | undefined {
    if (!startsWithBytes(key, this.#walk.prefix)) return 'end';
    const end = foldEnd(key, this.#walk);
    return end < 0 ? undefined : (prefixSuccessor(key.subarray(0, end)) ?? 'end');
  }
}
