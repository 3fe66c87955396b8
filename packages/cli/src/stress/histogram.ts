export const latencyBuckets = [1, 2, 5, 7, 10, 15, 25, 50, 75, 100, 250, 350, 500, 750, 1000, 5000];

/** Counts how many values are at most each bucket. */
export class Histogram {
  readonly #buckets: readonly number[];
  readonly #counts: number[];
  #min = Number.POSITIVE_INFINITY;
  #max = 0;
  #total = 0;

  constructor(buckets: readonly number[]) {
    this.#buckets = buckets;
    this.#counts = buckets.map(() => 0);
  }

  add(value: number): void {
    this.#total += 1;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
    for (const [at, bucket] of this.#buckets.entries()) {
      if (value <= bucket) this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    }
  }

  lines(): string[] {
    return [
      ...this.#buckets.map((bucket, at) => `${bucket}\t${this.#counts[at] ?? 0}`),
      `min\t${this.#total === 0 ? 0 : this.#min}`,
      `max\t${this.#max}`,
      `total\t${this.#total}`,
    ];
  }
}
