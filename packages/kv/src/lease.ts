import { randomUUID } from 'node:crypto';
import type { KvStore } from './store.ts';

export const leasesPartition: Buffer = Buffer.from('leases');

/** A record without a renewal for this long is anybody's. */
const defaultTermMs = 60_000;

interface LeaseRecord {
  /** Whom to look for when a lease seems stuck. */
  readonly owner: string;
  /** New with every acquisition: a holder that lost its lease never takes the next one for its own. */
  readonly term: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface LeaseOptions {
  readonly name: string;
  /** Shown to operators. */
  readonly owner: string;
  readonly termMs?: number | undefined;
  readonly clock?: (() => number) | undefined;
}

/** A lease in hand, until it is released or lost. */
export interface HeldLease {
  /** Puts the expiry off; false when the lease is lost. */
  renew(): Promise<boolean>;
  /** Asks the store, so that a holder that was paused notices whatever its clock says. Ask before every step. */
  isHeld(): Promise<boolean>;
  /** Lets the next one in without waiting for the expiry. */
  release(): Promise<void>;
}

/**
 * A right that one of many processes on a store has at a time. Clocks decide only how soon a silent holder is replaced.
 * A step that has begun may still overlap with the successor's first: steps under a lease must bear being done twice.
 */
export class Lease {
  readonly termMs: number;
  readonly #kv: KvStore;
  readonly #key: Buffer;
  readonly #owner: string;
  readonly #clock: () => number;

  constructor(kv: KvStore, options: LeaseOptions) {
    this.#kv = kv;
    this.#key = Buffer.from(options.name);
    this.#owner = options.owner;
    this.termMs = options.termMs ?? defaultTermMs;
    this.#clock = options.clock ?? Date.now;
  }

  /** The lease, or undefined while somebody else has it. */
  async acquire(): Promise<HeldLease | undefined> {
    const found = await this.#kv.get(leasesPartition, this.#key);
    if (found !== undefined && this.#isAlive(found.value)) return undefined;
    const term = randomUUID();
    const taken = await this.#kv.setIf(
      leasesPartition,
      this.#key,
      this.#record(term),
      found?.predicate ?? 'absent',
    );
    return taken ? this.#held(term) : undefined;
  }

  #held(term: string): HeldLease {
    const current = async () => {
      const found = await this.#kv.get(leasesPartition, this.#key);
      return found !== undefined && parseRecord(found.value)?.term === term ? found : undefined;
    };
    return {
      renew: async () => {
        const found = await current();
        if (found === undefined) return false;
        return this.#kv.setIf(leasesPartition, this.#key, this.#record(term), found.predicate);
      },
      isHeld: async () => (await current()) !== undefined,
      release: async () => {
        const found = await current();
        if (found !== undefined) await this.#kv.deleteIf(leasesPartition, this.#key, found.predicate);
      },
    };
  }

  #record(term: string): Buffer {
    const record: LeaseRecord = { owner: this.#owner, term, expiresAt: this.#clock() + this.termMs };
    return Buffer.from(JSON.stringify(record));
  }

  /** A record that cannot be read protects nobody. */
  #isAlive(value: Buffer): boolean {
    const record = parseRecord(value);
    return record !== undefined && record.expiresAt > this.#clock();
  }
}

function parseRecord(value: Buffer): LeaseRecord | undefined {
  try {
    const record = JSON.parse(value.toString()) as Partial<LeaseRecord> | null;
    if (typeof record?.term !== 'string' || typeof record.expiresAt !== 'number') return undefined;
    return { owner: String(record.owner), term: record.term, expiresAt: record.expiresAt };
  } catch {
    return undefined;
  }
}
