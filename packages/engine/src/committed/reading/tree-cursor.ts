import { compareSlices } from '@svc/encoding';
import type { TableCursor } from '@svc/sstable';
import type { MetaRange } from '../format/meta-range.ts';
import type { Namespace } from '../store/namespace.ts';
import type { TableLease } from '../store/open-tables.ts';
import type { TableStore } from '../store/table-store.ts';

/**
 * Walks a tree range by range; a range's records are read only after `enter`. At `header` the current range is
 * `range`; at `record` the current record is `records`'.
 */
export class TreeCursor {
  readonly meta: MetaRange;
  range = 0;
  state: 'header' | 'record' | 'end';
  readonly #store: TableStore;
  readonly #namespace: Namespace;
  #lease: TableLease | undefined;
  #records: TableCursor | undefined;
  #closed = false;

  constructor(store: TableStore, namespace: Namespace, meta: MetaRange) {
    this.#store = store;
    this.#namespace = namespace;
    this.meta = meta;
    this.state = meta.count > 0 ? 'header' : 'end';
  }

  /** The cursor of the entered range. */
  get records(): TableCursor {
    if (this.#records === undefined) throw new Error('no range is entered');
    return this.#records;
  }

  /** The entered range's table. */
  get table(): TableLease {
    if (this.#lease === undefined) throw new Error('no range is entered');
    return this.#lease;
  }

  /** Leaves the current range, entered or not. */
  nextRange(): void {
    this.#leave();
    this.range++;
    this.state = this.range < this.meta.count ? 'header' : 'end';
  }

  /** Opens the current range; a promise only when it has to be fetched. `nextRecord` then goes to its first record. */
  open(): void | Promise<void> {
    const opened = this.#store.openRange(this.#namespace, this.meta.id(this.range));
    if (opened instanceof Promise) return opened.then((lease) => this.#use(lease));
    this.#use(opened);
  }

  /** Goes to the first record of the current range. */
  async enter(): Promise<void> {
    await this.open();
    this.toFirstRecord();
  }

  /** Goes to the first record of the range just opened, or to the first one >= `from`; there must be one. */
  toFirstRecord(from?: Uint8Array): void {
    const { records } = this;
    if (from !== undefined) records.seek(from);
    if (!records.next()) throw records.damage('it holds fewer records than its metarange says');
  }

  /** Goes to the next record of the entered range, or to the header behind it. */
  nextRecord(): void {
    if (!this.records.next()) this.nextRange();
  }

  /** Goes to the first record >= `key` of the entered range, or to the header behind it. */
  seekRecord(key: Uint8Array): void {
    this.records.seek(key);
    this.nextRecord();
  }

  /** Goes to the header of the first range that may hold `key` or a greater key. */
  seekRange(key: Uint8Array): void {
    this.#leave();
    this.range = this.meta.find(key);
    this.state = this.range < this.meta.count ? 'header' : 'end';
  }

  close(): void {
    this.#leave();
    this.#closed = true;
    this.state = 'end';
  }

  #use(lease: TableLease): void {
    if (this.#closed) {
      lease.release();
      throw new Error('the tree was closed while one of its ranges was opened');
    }
    this.#leave();
    this.#lease = lease;
    this.#records = lease.scan();
    if (this.range + 1 < this.meta.count) {
      this.#store.prefetchRange(this.#namespace, this.meta.id(this.range + 1));
    }
    this.state = 'record';
  }

  #leave(): void {
    this.#lease?.release();
    this.#lease = undefined;
    this.#records = undefined;
  }
}

/** Orders the current records of two cursors by key. */
export function compareRecords(a: TableCursor, b: TableCursor): number {
  return compareSlices(a.key, 0, a.keyLength, b.key, 0, b.keyLength);
}
