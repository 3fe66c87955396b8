import type { KvEntry } from '@svc/kv';

/** A scan whose first page was asked for. */
export interface BegunScan {
  /** The first key it is asked for. */
  readonly from: Uint8Array;
  readonly pages: AsyncIterator<KvEntry[]>;
  readonly first: Promise<IteratorResult<KvEntry[]>>;
}

/** Scans that were begun before anybody needs them, in the order of where they begin. */
export class BegunScans {
  #scans: BegunScan[] = [];

  get isEmpty(): boolean {
    return this.#scans.length === 0;
  }

  /** Behind all others. */
  add(scan: BegunScan): void {
    this.#scans.push(scan);
  }

  take(from: Uint8Array): BegunScan | undefined {
    const index = this.#scans.findIndex((scan) => Buffer.compare(scan.from, from) === 0);
    return index < 0 ? undefined : this.#scans.splice(index, 1)[0];
  }

  /** Ends those that begin before a key; without one all of them. */
  dropBefore(key: Uint8Array | undefined): void {
    const isPassed = ({ from }: BegunScan): boolean => key === undefined || Buffer.compare(from, key) < 0;
    const passed = this.#scans.filter(isPassed);
    this.#scans = this.#scans.filter((scan) => !isPassed(scan));
    for (const { pages } of passed) pages.return?.().catch(() => undefined);
  }
}
