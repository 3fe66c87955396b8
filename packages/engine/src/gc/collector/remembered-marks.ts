import type { RangeMarks } from './mark-list.ts';

/** What a thread remembers of ranges. */
export const rememberedBytes = 16 * 1024 * 1024;

/** The marks of ranges; the first to come are the first to go, because a tree is compared with the one before. */
export class RememberedMarks {
  readonly #mostBytes: number;
  readonly #ranges = new Map<string, RangeMarks>();
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get(id: string): RangeMarks | undefined {
    return this.#ranges.get(id);
  }

  /** One that is not there yet. */
  add(id: string, range: RangeMarks): void {
    this.#ranges.set(id, range);
    this.#bytes += range.marks.byteLength;
    for (const [first, { marks }] of this.#ranges) {
      if (this.#bytes <= this.#mostBytes) return;
      this.#ranges.delete(first);
      this.#bytes -= marks.byteLength;
    }
  }
}
