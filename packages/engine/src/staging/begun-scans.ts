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
  readonly #scans: BegunScan[] = [];

  get isEmpty(): boolean {
    return this.#scans.length === 0;
  }

  /** Behind all others. */
  add(scan: BegunScan): void {
    this.#scans.push(scan);
  }

  /** The one that begins there; those that begin before are ended. */
  take(from: Uint8Array): BegunScan | undefined {
    for (;;) {
      const [first] = this.#scans;
      const order = first === undefined ? 1 : Buffer.compare(first.from, from);
      if (order > 0) return undefined;
      this.#scans.shift();
      if (order === 0) return first;
      end(first);
    }
  }

  close(): void {
    for (const scan of this.#scans.splice(0)) end(scan);
  }
}

function end(scan: BegunScan | undefined): void {
  scan?.pages.return?.().catch(() => undefined);
}
