import { ValueParts } from '@svc/encoding';
import type { TableCursor } from '@svc/sstable';
import type { MetaRange } from '../format/meta-range.ts';
import type { Namespace } from '../store/namespace.ts';
import type { TableLease } from '../store/open-tables.ts';
import type { TableStore } from '../store/table-store.ts';
import type { RecordIterator, RecordPlace } from '../tree.ts';

const nothing: Buffer = Buffer.alloc(0);

interface KeySpan {
  readonly from?: Uint8Array | undefined;
  /** Exclusive; ranges behind it are not opened. */
  readonly to?: Uint8Array | undefined;
}

/** A tree's records in order, read through the block cache. */
export class TreeIterator implements RecordIterator {
  readonly #store: TableStore;
  readonly #namespace: Namespace;
  readonly #metaRangeId: string;
  #meta: MetaRange | undefined;
  #range = -1;
  #lease: TableLease | undefined;
  #cursor: TableCursor | undefined;
  #target: Buffer | undefined;
  readonly #to: Uint8Array | undefined;
  readonly #parts = new ValueParts();
  #partsRead = false;
  #closed = false;
  /** One object for all records. */
  readonly #place = { keyBytes: nothing, keyLength: 0, dataBytes: nothing, dataStart: 0, dataEnd: 0 };

  constructor(store: TableStore, namespace: Namespace, metaRangeId: string, span: KeySpan = {}) {
    this.#store = store;
    this.#namespace = namespace;
    this.#metaRangeId = metaRangeId;
    if (span.from !== undefined) this.#target = Buffer.from(span.from);
    this.#to = span.to;
  }

  get key(): Buffer {
    const cursor = this.#current();
    return cursor.key.subarray(0, cursor.keyLength);
  }

  get identity(): Buffer {
    const { block } = this.#readValue();
    return block.subarray(this.#parts.identityStart, this.#parts.identityEnd);
  }

  get data(): Buffer {
    const { block } = this.#readValue();
    return block.subarray(this.#parts.dataStart, this.#parts.dataEnd);
  }

  get place(): RecordPlace {
    const { block, key, keyLength } = this.#readValue();
    const place = this.#place;
    place.keyBytes = key;
    place.keyLength = keyLength;
    place.dataBytes = block;
    place.dataStart = this.#parts.dataStart;
    place.dataEnd = this.#parts.dataEnd;
    return place;
  }

  next(): boolean | Promise<boolean> {
    this.#partsRead = false;
    if (this.#target === undefined && this.#cursor?.next() === true) return true;
    return this.#advance();
  }

  seek(key: Uint8Array): void {
    this.#partsRead = false;
    const meta = this.#meta;
    const cursor = this.#cursor;
    if (
      meta !== undefined &&
      cursor !== undefined &&
      this.#target === undefined &&
      meta.compareMin(this.#range, key) <= 0 &&
      meta.compareMax(this.#range, key) >= 0
    ) {
      cursor.seek(key);
      return;
    }
    this.#target = Buffer.from(key);
  }

  close(): void {
    this.#leave();
    this.#closed = true;
  }

  /** Goes to the wanted position, or to the range behind the current one. */
  #advance(): boolean | Promise<boolean> {
    if (this.#closed) throw new Error('the iterator was closed');
    if (this.#meta === undefined) {
      const loaded = this.#store.metaRange(this.#namespace, this.#metaRangeId);
      if (loaded instanceof Promise) {
        return loaded.then((meta) => {
          this.#meta = meta;
          return this.#advance();
        });
      }
      this.#meta = loaded;
    }
    const meta = this.#meta;
    const target = this.#target;
    this.#leave();
    this.#target = undefined;
    this.#range = target === undefined ? this.#range + 1 : meta.find(target);
    const isOver = this.#range >= meta.count;
    if (isOver || (this.#to !== undefined && meta.compareMin(this.#range, this.#to) >= 0)) {
      this.#range = meta.count;
      return false;
    }
    const id = meta.id(this.#range);
    const opened = this.#store.openRange(this.#namespace, id);
    if (!(opened instanceof Promise)) return this.#enter(opened, target);
    return opened.then((lease) => this.#enter(lease, target));
  }

  #enter(lease: TableLease, target: Buffer | undefined): boolean {
    if (this.#closed) {
      lease.release();
      throw new Error('the iterator was closed while a range was opened');
    }
    this.#lease = lease;
    const cursor = lease.cursor();
    this.#cursor = cursor;
    if (target !== undefined) cursor.seek(target);
    else if (this.#meta !== undefined && this.#range + 1 < this.#meta.count) {
      this.#store.prefetchRange(this.#namespace, this.#meta.id(this.#range + 1));
    }
    if (!cursor.next()) throw cursor.damage('it holds fewer records than its metarange says');
    return true;
  }

  #leave(): void {
    this.#lease?.release();
    this.#lease = undefined;
    this.#cursor = undefined;
  }

  #current(): TableCursor {
    if (this.#cursor === undefined) throw new Error('the iterator stands at no record');
    return this.#cursor;
  }

  /** Finds the parts of the current record's value. */
  #readValue(): TableCursor {
    const cursor = this.#current();
    if (!this.#partsRead) {
      try {
        this.#parts.read(cursor.block, cursor.valueStart, cursor.valueEnd);
      } catch (error) {
        throw cursor.damage('a record is unreadable', error);
      }
      this.#partsRead = true;
    }
    return cursor;
  }
}
