const filterBits = 20;

/** Many texts looked for in one pass over a buffer. */
export class Needles {
  readonly #filter = new Uint8Array(1 << filterBits);
  readonly #byStart = new Map<number, Buffer[]>();

  /** At least four bytes each. */
  constructor(texts: Iterable<string>) {
    for (const text of new Set(texts)) {
      const needle = Buffer.from(text);
      const start = needle.readInt32LE(0);
      this.#filter[slot(start)] = 1;
      const others = this.#byStart.get(start);
      if (others === undefined) this.#byStart.set(start, [needle]);
      else others.push(needle);
    }
  }

  /** Every place where one of them stands. */
  find(hay: Buffer): { readonly at: number; readonly text: string }[] {
    const found: { readonly at: number; readonly text: string }[] = [];
    const filter = this.#filter;
    let start = 0;
    for (let end = 0; end < hay.length; end += 1) {
      start = (start >>> 8) | ((hay[end] as number) << 24);
      if (end < 3 || filter[slot(start)] === 0) continue;
      const at = end - 3;
      for (const needle of this.#byStart.get(start) ?? []) {
        const until = at + needle.length;
        if (until <= hay.length && hay.compare(needle, 0, needle.length, at, until) === 0)
          found.push({ at, text: needle.toString() });
      }
    }
    return found;
  }
}

function slot(start: number): number {
  return Math.imul(start, 0x9e37_79b1) >>> (32 - filterBits);
}
