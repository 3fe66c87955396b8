import { open, type RootDatabaseOptionsWithPath } from 'lmdb';
import type { KvEntry } from '../../store.ts';
import { forgetFinishedWrites } from './finished-writes.ts';
import { PageArena } from './page-arena.ts';
import { writePhysicalKey, type PhysicalKey } from './physical-key.ts';

/** A write of lmdb: resolves when committed and visible; `flushed` when on disk. */
export interface Commit extends Promise<boolean> {
  readonly flushed: Promise<unknown>;
}

/** The part of lmdb this driver uses, with the key and value encoders of `openLmdb` in place. */
export interface LmdbDatabase {
  /** Length of the value that `getBinaryFast` found last. */
  readonly lastSize: number;
  /** The value in a buffer that the next read overwrites. */
  getBinaryFast(key: PhysicalKey): Uint8Array | undefined;
  put(key: PhysicalKey, value: Uint8Array, options?: { noOverwrite: true }): Commit;
  remove(key: PhysicalKey): Commit;
  transaction<T>(action: () => T): Promise<T>;
  /** One step of what `write` writes; false when the key is there. */
  ifNoExists(key: PhysicalKey, write: () => void): Commit;
  /** One step of what `write` writes. */
  batch(write: () => void): Commit;
  /** Resolves once everything written until now is on disk. */
  readonly flushed: PromiseLike<unknown>;
  getRange(options: {
    start: PhysicalKey;
    end?: PhysicalKey;
    exclusiveStart?: boolean;
    inclusiveEnd?: boolean;
    values?: boolean;
  }): { iterate(): Iterator<KvEntry, undefined> };
  /** The next read sees everything committed by any process until now. */
  resetReadTxn(): void;
  /** Copies one snapshot into an empty folder, as `data.mdb`. */
  backup(folder: string, compact: boolean): Promise<void>;
  close(): Promise<void>;
}

/**
 * Where lmdb's decoders put the entry they are reading. One page is read without yielding, so one reader per process
 * suffices.
 */
export const pageReader = { arena: new PageArena(0), keyOffset: 0 };

export function openLmdb(path: string): LmdbDatabase {
  const options = {
    path,
    // Without this a folder with a dot in its name would become a file.
    noSubdir: false,
    // Doubles the longest key; existing stores keep the size they were made with.
    pageSize: 8192,
    separateFlushed: true,
    // Flushing beside the next commit needs a recovery of its own after a power failure, which we cannot test. It would
    // make a server a tenth faster at most.
    overlappingSync: false,
    // Its batches hold a promise that we cannot reach: a failing commit would end the process as an unhandled rejection.
    eventTurnBatching: false,
    // Without those batches, the first few writes of a turn would start a commit of their own: half the group commit.
    txnStartThreshold: 1_000_000,
    keyEncoder: {
      writeKey: writePhysicalKey,
      readKey: (source: Uint8Array, start: number, end: number) =>
        pageReader.arena.copy(source, start + pageReader.keyOffset, end),
    },
    encoder: {
      encode: (value: Uint8Array) => value,
      decode: (source: Uint8Array, size: number) => pageReader.arena.copy(source, 0, size),
    },
  };
  const db = open(options as unknown as RootDatabaseOptionsWithPath);
  forgetFinishedWrites(db);
  return db as unknown as LmdbDatabase;
}
