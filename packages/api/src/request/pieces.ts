/** Each piece costs about a hundred bytes of overhead, so smaller ones are joined. */
const smallPiece = 4096;
const mostSmall = 256;

/** Collects a body as it arrives. It costs little more memory than its bytes, however finely the client cuts it. */
export class Pieces {
  #joined: Buffer[] = [];
  #small: Buffer[] = [];

  add(piece: Buffer): void {
    if (piece.length >= smallPiece) {
      this.#join();
      this.#joined.push(piece);
      return;
    }
    this.#small.push(piece);
    if (this.#small.length >= mostSmall) this.#join();
  }

  /** Everything in one buffer; the pieces are dropped. */
  take(): Buffer {
    const pieces = [...this.#joined, ...this.#small];
    this.clear();
    const [first] = pieces;
    return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
  }

  clear(): void {
    this.#joined = [];
    this.#small = [];
  }

  #join(): void {
    if (this.#small.length === 0) return;
    this.#joined.push(Buffer.concat(this.#small));
    this.#small = [];
  }
}
