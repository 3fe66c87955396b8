import type { BlockLogger } from '../../config.ts';

export interface BucketRegionsOptions {
  readonly fallback: string;
  /** False: every bucket is in the fallback region until the store says otherwise. */
  readonly discover: boolean;
  /** Asks the store; undefined when it does not tell. */
  readonly ask: (bucket: string) => Promise<string | undefined>;
  readonly logger: BlockLogger | undefined;
}

/** Which region each bucket is in, asked once per bucket and process. */
export class BucketRegions {
  readonly fallback: string;
  readonly #options: BucketRegionsOptions;
  readonly #known = new Map<string, string>();
  readonly #asking = new Map<string, Promise<string>>();

  constructor(options: BucketRegionsOptions) {
    this.#options = options;
    this.fallback = options.fallback;
  }

  of(bucket: string): string | Promise<string> {
    const known = this.#known.get(bucket);
    if (known !== undefined) return known;
    if (!this.#options.discover) return this.fallback;
    let asking = this.#asking.get(bucket);
    if (asking === undefined) {
      asking = this.#ask(bucket).finally(() => this.#asking.delete(bucket));
      this.#asking.set(bucket, asking);
    }
    return asking;
  }

  async #ask(bucket: string): Promise<string> {
    try {
      const region = (await this.#options.ask(bucket)) || this.fallback;
      this.#known.set(bucket, region);
      return region;
    } catch (error) {
      // Not remembered: the next request asks again.
      this.#options.logger?.error(
        { bucket, error: String(error), fallback: this.fallback },
        'could not find the region of a bucket; using s3.region',
      );
      return this.fallback;
    }
  }

  /** Takes the region a refusal named; false when that was known already. */
  learn(bucket: string, region: string): boolean {
    if (region === (this.#known.get(bucket) ?? this.fallback)) return false;
    this.#known.set(bucket, region);
    return true;
  }
}
