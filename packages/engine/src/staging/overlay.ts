import { decodeStagedEntry, type StagedEntryData } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import type { ChangeIterator } from '../committed/tree.ts';
import { TokenScan, type StagedRange } from './token-scan.ts';

/**
 * The uncommitted changes of several tokens as one sorted run: for each key the newest token's change, tombstones
 * included (empty identity).
 */
export class Overlay implements ChangeIterator {
  readonly #scans: TokenScan[];
  /** Which scans stand on an entry; the others have ended or wait for `next`. */
  readonly #live: boolean[];
  #current = -1;
  #decoded: StagedEntryData | undefined;
  #started = false;

  /** `tokens` newest first. */
  constructor(kv: KvStore, tokens: readonly Buffer[], range: StagedRange = {}) {
    // The caller's own buffers may change while this is read.
    const { from, prefix, before } = range;
    const owned = { ...range, from: copyOf(from), prefix: copyOf(prefix), before: copyOf(before) };
    this.#scans = tokens.map((token) => new TokenScan(kv, token, owned));
    this.#live = tokens.map(() => false);
  }

  get key(): Buffer {
    return this.#scan().key;
  }

  get identity(): Buffer {
    return this.#change().identity;
  }

  get data(): Buffer {
    return this.#change().data;
  }

  get tombstone(): boolean {
    return this.#change().identity.length === 0;
  }

  /** Before the first `next`, which need not ask the store again. */
  async isEmpty(): Promise<boolean> {
    const empty = await Promise.all(this.#scans.map((scan) => scan.isEmpty()));
    return !empty.includes(false);
  }

  next(): boolean | Promise<boolean> {
    this.#decoded = undefined;
    const [only] = this.#scans;
    if (this.#scans.length === 1 && only !== undefined) return this.#nextOfOne(only);
    return this.#nextOfMany();
  }

  seek(key: Uint8Array): void {
    const target = Buffer.from(key);
    for (const [index, scan] of this.#scans.entries()) {
      scan.seek(target);
      this.#live[index] = false;
    }
    this.#decoded = undefined;
    this.#current = -1;
    this.#started = false;
  }

  close(): void {
    for (const scan of this.#scans) scan.close();
    this.#current = -1;
  }

  #nextOfOne(scan: TokenScan): boolean | Promise<boolean> {
    this.#current = 0;
    return scan.next();
  }

  #nextOfMany(): boolean | Promise<boolean> {
    const pending = this.#advance();
    return pending === undefined ? this.#choose() : pending.then(() => this.#choose());
  }

  /** Moves every scan that stood on the key just given (all of them at the start). */
  #advance(): Promise<void> | undefined {
    let waits: Promise<void>[] | undefined;
    const current = this.#current >= 0 ? this.#scans[this.#current]?.key : undefined;
    for (const [index, scan] of this.#scans.entries()) {
      const moves =
        current === undefined ? !this.#started : this.#live[index] === true && scan.key.equals(current);
      if (!moves) continue;
      const more = scan.next();
      if (typeof more === 'boolean') this.#live[index] = more;
      else {
        waits ??= [];
        waits.push(
          more.then((found) => {
            this.#live[index] = found;
          }),
        );
      }
    }
    this.#started = true;
    return waits === undefined ? undefined : Promise.all(waits).then(() => undefined);
  }

  #choose(): boolean {
    let chosen = -1;
    let smallest: Buffer | undefined;
    for (const [index, scan] of this.#scans.entries()) {
      if (this.#live[index] !== true) continue;
      const { key } = scan;
      // Strictly smaller: of equal keys the newest token, which comes first, wins.
      if (smallest === undefined || Buffer.compare(key, smallest) < 0) {
        smallest = key;
        chosen = index;
      }
    }
    this.#current = chosen;
    return chosen >= 0;
  }

  #scan(): TokenScan {
    const scan = this.#scans[this.#current];
    if (scan === undefined) throw new Error('read outside of an overlay');
    return scan;
  }

  #change(): StagedEntryData {
    this.#decoded ??= decodeStagedEntry(this.#scan().value);
    return this.#decoded;
  }
}

function copyOf(bytes: Uint8Array | undefined): Buffer | undefined {
  return bytes && Buffer.from(bytes);
}
