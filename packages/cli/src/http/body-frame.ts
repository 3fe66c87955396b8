/** Finds a body in what comes from a connection. */
export interface BodyFrame {
  /** Hands the body's bytes to `take`; true once its end has come. Throws for what cannot be. */
  feed(bytes: Buffer, take: (bytes: Buffer) => void): boolean;
}

/** A body of a known size. */
export class SizedFrame implements BodyFrame {
  #left: number;

  constructor(size: number) {
    this.#left = size;
  }

  feed(bytes: Buffer, take: (bytes: Buffer) => void): boolean {
    if (bytes.length > this.#left) throw new Error('more came than was announced');
    this.#left -= bytes.length;
    if (bytes.length > 0) take(bytes);
    return this.#left === 0;
  }
}

const lineLimit = 16 * 1024;

/** A body in chunks, each behind a line with its size. */
export class ChunkedFrame implements BodyFrame {
  #line = '';
  #left = 0;
  /** `end` is what follows the last chunk: trailers, and an empty line. */
  #expects: 'size' | 'data' | 'break' | 'end' = 'size';

  feed(bytes: Buffer, take: (bytes: Buffer) => void): boolean {
    for (let at = 0; at < bytes.length;) {
      if (this.#expects === 'data') {
        const end = Math.min(bytes.length, at + this.#left);
        take(bytes.subarray(at, end));
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#expects = 'break';
        continue;
      }
      const lineEnd = bytes.indexOf(10, at);
      const end = lineEnd < 0 ? bytes.length : lineEnd + 1;
      this.#line += bytes.toString('latin1', at, end);
      at = end;
      if (this.#line.length > lineLimit) throw new Error('a chunk without a size came');
      if (lineEnd < 0) return false;
      const line = this.#line.trimEnd();
      this.#line = '';
      if (this.#readLine(line)) {
        if (at < bytes.length) throw new Error('more came than was announced');
        return true;
      }
    }
    return false;
  }

  /** True at the end of the body. */
  #readLine(line: string): boolean {
    if (this.#expects === 'end') return line === '';
    if (this.#expects === 'break') {
      if (line !== '') throw new Error('a chunk was longer than announced');
      this.#expects = 'size';
      return false;
    }
    const digits = /^([0-9a-f]{1,12})(?:\s*;|$)/i.exec(line)?.[1];
    if (digits === undefined) throw new Error('a chunk without a size came');
    this.#left = Number.parseInt(digits, 16);
    this.#expects = this.#left === 0 ? 'end' : 'data';
    return false;
  }
}
