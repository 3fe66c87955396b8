import { compareBytes, compareSlices } from '@svc/encoding';
import {
  FileSink,
  type FinishedTable,
  type RecordHash,
  type TableCheckpoint,
  type TableCursor,
  TableWriter,
} from '@svc/sstable';
import { rmSync } from 'node:fs';
import { encodeRangeValue, type MetaRange, type RangeRecord } from '../format/meta-range.ts';
import type { Namespace } from '../store/namespace.ts';
import type { TableLease } from '../store/open-tables.ts';
import type { PackedChanges } from './packed-changes.ts';
import type { TableStore } from '../store/table-store.ts';

/** When ranges end. All servers of an installation must agree. */
export interface SplitSettings {
  readonly minRangeSize: number;
  readonly maxRangeSize: number;
  readonly raggedness: number;
}

export interface TreeWriterOptions {
  readonly store: TableStore;
  readonly namespace: Namespace;
  readonly split: SplitSettings;
  /** User properties of every table written. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
  readonly hasher?: Hasher | undefined;
}

/** Hashes records elsewhere. */
export interface Hasher {
  /** With `after` it goes on from the last of that many kept states of another table. */
  newHash(after?: { readonly id: string; readonly states: number }): RecordHash;
  /** Where the kept hash states of a table are; none when it is not known. */
  checkpoints(id: string, fileSize: number): readonly TableCheckpoint[];
  /** Too much waits to be hashed. */
  readonly isBusy: boolean;
  /** Resolves when less waits. */
  ready(): Promise<void>;
}

const maxUploads = 10;
const unknownYet = Buffer.alloc(0);

/**
 * Writes a tree from records and whole existing ranges in key order. Finished ranges are uploaded while the next
 * ones are written; nothing refers to them before `finish`.
 */
export class TreeWriter {
  readonly #options: TreeWriterOptions;
  readonly #divisor: number;
  readonly #ranges: RangeRecord[] = [];
  #table: TableWriter | undefined;
  #sink: FileSink | undefined;
  /** Settled when the id of a range is known, or will never be. */
  readonly #naming: Promise<unknown>[] = [];
  readonly #uploads = new Set<Promise<void>>();
  #failure: unknown;
  #lastMax: Buffer | undefined;
  count = 0;

  constructor(options: TreeWriterOptions) {
    this.#options = options;
    this.#divisor = Math.trunc(options.split.raggedness);
  }

  /** True while a range is open. */
  get isOpen(): boolean {
    return this.#table !== undefined;
  }

  /** True when the caller must `await ready()` before it goes on. */
  get mustWait(): boolean {
    return (
      this.#uploads.size >= maxUploads || this.#failure !== undefined || this.#options.hasher?.isBusy === true
    );
  }

  async ready(): Promise<void> {
    while (this.#failure === undefined && this.#uploads.size >= maxUploads) await Promise.race(this.#uploads);
    if (this.#failure !== undefined) throw this.#failure;
    const { hasher } = this.#options;
    if (hasher?.isBusy === true) await hasher.ready();
  }

  /** Adds a record after everything added before. Returns true when it was the last of its range. */
  addRecord(
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer,
    valueStart: number,
    valueEnd: number,
  ): boolean {
    const table = this.#table ?? this.#open(key, keyStart, keyEnd);
    this.count++;
    return table.add(key, keyStart, keyEnd, value, valueStart, valueEnd) && this.#closeIfDue();
  }

  /**
   * Adds the current change and the ones behind it, as far as they can be added in one go, and moves to the last one
   * added. Answers how many; none when the current one has to be added by itself.
   */
  addChanges(changes: PackedChanges): number {
    const { bytes, start } = changes;
    const table = this.#table ?? this.#open(bytes, changes.keyStart, changes.keyEnd);
    const before = table.count;
    const added = table.addPacked(bytes, start, bytes.length);
    if (added === 0) return 0;
    const count = table.count - before;
    this.count += count;
    changes.passTo(start + added);
    this.#closeIfDue();
    return count;
  }

  /**
   * Adds records of the block whose first record `from` stands at, if possible all of them, and moves `from` to the
   * last one added. False, with nothing added, when the first has to be added by itself.
   */
  addBlock(from: TableCursor): boolean {
    const table = this.#table ?? this.#open(from.key, 0, from.keyLength);
    const before = table.count;
    if (!table.addBlock(from)) return false;
    this.count += table.count - before;
    this.#closeIfDue();
    return true;
  }

  /**
   * Starts a range with at most the first `blocks` of an existing one, as far as their hash is known, and answers how
   * many those are. No range may be open.
   */
  resume(from: TableLease, blocks: number): number {
    const { hasher } = this.#options;
    const { id } = from;
    const known = hasher?.checkpoints(id, from.size) ?? [];
    const usable = known.filter((checkpoint) => checkpoint.blocks <= blocks);
    const last = usable.at(-1);
    if (hasher === undefined || last === undefined) return 0;
    const cursor = from.scan();
    if (!cursor.next()) return 0;
    const table = this.#open(cursor.key, 0, cursor.keyLength, hasher.newHash({ id, states: usable.length }));
    table.resume(from, last);
    this.count += table.count;
    return last.blocks;
  }

  /** Closes the open range when its last record says so. */
  #closeIfDue(): boolean {
    const table = this.#table;
    if (table === undefined) return false;
    const { minRangeSize, maxRangeSize } = this.#options.split;
    const size = table.estimatedSize;
    if (size < minRangeSize) return false;
    if (size < maxRangeSize && !table.lastKeyHashIsMultiple(this.#divisor)) return false;
    this.#closeRange();
    return true;
  }

  /** Adds a whole existing range. */
  addRange(meta: MetaRange, range: number): void {
    this.#closeRange();
    if (this.#lastMax !== undefined && meta.compareMin(range, this.#lastMax) <= 0) {
      throw new Error('ranges must be added in ascending order');
    }
    const record = meta.record(range);
    this.#ranges.push(record);
    this.#lastMax = record.maxKey;
    this.count += meta.recordCount(range);
  }

  /**
   * Writes the metarange, which needs the names of all ranges, and uploads it beside those that are still on their way;
   * returns its id when all are stored. `whileStoring` is told it as soon as it is known: what only needs the name can
   * be prepared while the stores are waited for.
   */
  async finish(whileStoring?: (id: string) => void): Promise<string> {
    this.#closeRange();
    await Promise.all(this.#naming);
    if (this.#failure !== undefined) await this.#allStored();
    try {
      const id = await this.#finishMetaRange(whileStoring);
      await this.#allStored();
      return id;
    } catch (error) {
      await this.#drained();
      throw error;
    }
  }

  async #finishMetaRange(whileStoring: ((id: string) => void) | undefined): Promise<string> {
    const { store, namespace, properties } = this.#options;
    this.#ranges.sort((a, b) => compareBytes(a.maxKey, b.maxKey));

    const sink = new FileSink(store.temporaryPath('metaranges'));
    try {
      const table = new TableWriter(sink, { type: 'metaranges', properties });
      for (const { maxKey, value } of this.#ranges) {
        table.add(maxKey, 0, maxKey.length, value, 0, value.length);
      }
      const { id, fileSize } = await table.finish();
      sink.close();
      const stored = store.publish(namespace, {
        type: 'metaranges',
        id,
        path: sink.path,
        size: fileSize,
        bytes: sink.whole,
      });
      try {
        whileStoring?.(id);
      } finally {
        await stored;
      }
      return id;
    } catch (error) {
      discard(sink);
      throw error;
    }
  }

  /** Gives up: waits for running uploads and removes the unfinished file. */
  async abort(): Promise<void> {
    this.#failure ??= new Error('writing was given up');
    if (this.#sink !== undefined) discard(this.#sink);
    this.#table?.discard();
    this.#table = undefined;
    await this.#drained();
  }

  async #allStored(): Promise<void> {
    await this.#drained();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** No upload is under way any more, whatever became of them. */
  async #drained(): Promise<void> {
    while (this.#uploads.size > 0) await Promise.race(this.#uploads);
  }

  #open(
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    hash: RecordHash | undefined = this.#options.hasher?.newHash(),
  ): TableWriter {
    const last = this.#lastMax;
    if (last !== undefined && compareSlices(key, keyStart, keyEnd, last, 0, last.length) <= 0) {
      throw new Error('records must be added in ascending order');
    }
    const { store, properties, split } = this.#options;
    this.#sink = new FileSink(store.temporaryPath('ranges'));
    this.#table = new TableWriter(this.#sink, {
      type: 'ranges',
      properties,
      hash,
      split: { divisor: this.#divisor, maxSize: split.maxRangeSize },
    });
    return this.#table;
  }

  #closeRange(): void {
    const table = this.#table;
    const sink = this.#sink;
    if (table === undefined || sink === undefined) return;
    this.#table = undefined;
    this.#sink = undefined;
    const slot = this.#ranges.length;
    // The bytes are on disk when the call returns; only the hash and the upload are still to come.
    const naming = this.#name(table.finish(), slot);
    this.#lastMax = table.lastKey;
    this.#ranges.push({ maxKey: table.lastKey, value: unknownYet });
    const failed = (error: unknown): void => {
      this.#failure ??= error;
    };
    this.#naming.push(naming.catch(failed));
    const upload = this.#upload(naming, sink).catch((error: unknown) => {
      failed(error);
      discard(sink);
    });
    const tracked: Promise<void> = upload.finally(() => this.#uploads.delete(tracked));
    this.#uploads.add(tracked);
  }

  async #name(finishing: Promise<FinishedTable>, slot: number): Promise<FinishedTable> {
    const finished = await finishing;
    this.#ranges[slot] = { maxKey: finished.maxKey, value: encodeRangeValue(finished) };
    return finished;
  }

  async #upload(naming: Promise<FinishedTable>, sink: FileSink): Promise<void> {
    const { store, namespace } = this.#options;
    const { id, fileSize } = await naming;
    sink.close();
    await store.publish(namespace, {
      type: 'ranges',
      id,
      path: sink.path,
      size: fileSize,
      bytes: sink.whole,
    });
  }
}

function discard(sink: FileSink): void {
  sink.close();
  rmSync(sink.path, { force: true });
}
