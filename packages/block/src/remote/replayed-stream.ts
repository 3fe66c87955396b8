import { BlockError } from '../errors.ts';

/** A stream that is read once, of which the last bytes can be sent again. Hand it pieces that are not tiny: all are kept. */
export class ReplayedStream {
  readonly #pieces: AsyncIterator<Buffer>;
  readonly #windowBytes: number;
  #kept: Buffer[] = [];
  #start = 0;
  #end = 0;
  #isDone = false;
  #failure: { readonly error: unknown } | undefined;
  /** The piece that is being waited for, also by whoever sent before and gave up. */
  #next: Promise<void> | undefined;

  constructor(pieces: AsyncIterable<Buffer>, windowBytes: number) {
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#windowBytes = windowBytes;
  }

  /** The first byte that can still be sent. */
  get start(): number {
    return this.#start;
  }

  /** Why the stream itself ended too early. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** Everything from a byte of the window on. */
  async *from(offset: number): AsyncGenerator<Buffer> {
    if (offset < this.#start) throw new BlockError('unavailable', 'what the store has lost is gone here too');
    let at = offset;
    for (;;) {
      if (at < this.#end) {
        const piece = this.#pieceAt(at);
        at += piece.length;
        yield piece;
      } else if (this.#isDone) return;
      else await (this.#next ??= this.#read());
    }
  }

  async #read(): Promise<void> {
    try {
      const { done, value } = await this.#pieces.next();
      if (done === true) this.#isDone = true;
      else this.#keep(value);
    } catch (error) {
      this.#failure = { error };
      throw error;
    } finally {
      this.#next = undefined;
    }
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#kept.push(piece);
    this.#end += piece.length;
    let gone = 0;
    for (const oldest of this.#kept) {
      if (this.#end - this.#start - oldest.length < this.#windowBytes) break;
      this.#start += oldest.length;
      gone += 1;
    }
    if (gone > 0) this.#kept = this.#kept.slice(gone);
  }

  #pieceAt(offset: number): Buffer {
    let start = this.#start;
    for (const piece of this.#kept) {
      if (offset < start + piece.length) return piece.subarray(offset - start);
      start += piece.length;
    }
    throw new RangeError(`nothing is kept at ${offset}`);
  }
}
