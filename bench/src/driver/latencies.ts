const bucketsPerDoubling = 64;
const doublings = 26;

/** Latencies as counts in buckets of one per cent, from a microsecond to a minute: recording one allocates nothing. */
export class Latencies {
  readonly #counts = new Uint32Array(bucketsPerDoubling * doublings);
  count = 0;
  /** In milliseconds. */
  max = 0;

  record(milliseconds: number): void {
    const bucket = Math.floor(Math.log2(1 + milliseconds * 1000) * bucketsPerDoubling);
    const index = Math.min(bucket, this.#counts.length - 1);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.count += 1;
    if (milliseconds > this.max) this.max = milliseconds;
  }

  /** Counts what another has counted as well. */
  add(other: Latencies): void {
    for (const [index, count] of other.#counts.entries())
      this.#counts[index] = (this.#counts[index] ?? 0) + count;
    this.count += other.count;
    this.max = Math.max(this.max, other.max);
  }

  /** The latency in milliseconds that `share` of the requests stayed within. */
  percentile(share: number): number {
    let left = this.count * share;
    for (const [index, count] of this.#counts.entries()) {
      left -= count;
      if (left <= 0 && count > 0) {
        return Math.min(this.max, (2 ** ((index + 1) / bucketsPerDoubling) - 1) / 1000);
      }
    }
    return Number.NaN;
  }
}
