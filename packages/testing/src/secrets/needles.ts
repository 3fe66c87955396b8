const filterBits = 16;

/** Many texts looked for in one pass over a buffer. */
export class Needles {
  readonly #filter = new Uint8Array(1 << filterBits);
  readonly #byStart = new Map<number, Buffer[]>();

  /** At least four bytes each. */
  constructor(texts: Iterable<string>) {
    for (const text of new Set(texts)) {
      const needle = Buffer.from(text);
      const start = needle.readUInt32LE(0);
      this.#filter[slot(start)] = 1;
      const others = this.#byStart.get(start);
      if (others === undefined) this.#byStart.set(start, [needle]);
      else others.push(needle);
    }
  }

  /** Every place where one of them stands. */
  *find(hay: Buffer): Generator<{ readonly at: number; readonly text: string }> {
    const last = hay.length - 4;
    for (let at = 0; at <= last; at += 1) {
      const start =
        ((hay[at] as number) |
          ((hay[at + 1] as number) << 8) |
          ((hay[at + 2] as number) << 16) |
          ((hay[at + 3] as number) << 24)) >>>
        0;
      if (this.#filter[slot(start)] === 0) continue;
      for (const needle of this.#byStart.get(start) ?? []) {
        const end = at + needle.length;
        if (end <= hay.length && hay.compare(needle, 0, needle.length, at, end) === 0)
          yield { at, text: needle.toString() };
      }
    }
  }
}

function slot(start: number): number {
  return Math.imul(start, 0x9e37_79b1) >>> (32 - filterBits);
}
