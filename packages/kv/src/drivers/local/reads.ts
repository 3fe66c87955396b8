import type { ScanPage } from '../../scan-pages.ts';
import type { KvEntry } from '../../store.ts';
import { pageReader, type LmdbDatabase } from './lmdb.ts';
import { PageArena } from './page-arena.ts';
import { logicalKeyOffset, partitionEnd, scanBound, type PhysicalKey } from './physical-key.ts';

/** A page of large values ends early, so that one page never holds the event loop or the memory for long. */
const pageBytes = 4 * 1024 * 1024;

interface PageRange {
  readonly lower: Uint8Array;
  readonly upper: Uint8Array | undefined;
  readonly limit: number;
}

export function readPage(
  db: LmdbDatabase,
  arena: PageArena,
  partition: Uint8Array,
  { lower, upper, limit }: PageRange,
): ScanPage {
  const start = scanBound(partition, lower);
  const end =
    upper === undefined ? { bound: partitionEnd(partition), cut: false } : scanBound(partition, upper);
  pageReader.arena = arena;
  pageReader.keyOffset = logicalKeyOffset(partition);
  const rows = db
    .getRange({ start: start.bound, exclusiveStart: start.cut, end: end.bound, inclusiveEnd: end.cut })
    .iterate();
  const entries: KvEntry[] = [];
  try {
    while (entries.length < limit && arena.bytes < pageBytes) {
      const row = rows.next();
      if (row.done === true) return { entries, last: true };
      entries.push(row.value);
    }
    return { entries, last: false };
  } finally {
    rows.return?.();
  }
}

/** The first key of a partition from `start` on. */
export function firstKeyOf(db: LmdbDatabase, partition: Uint8Array, start: Uint8Array): Buffer | undefined {
  const physical = firstKeyFrom(db, scanBound(partition, start).bound);
  if (physical === undefined) return undefined;
  const offset = logicalKeyOffset(partition);
  const isInside =
    physical.readUInt16BE(0) === partition.length &&
    Buffer.compare(physical.subarray(2, offset), partition) === 0;
  return isInside ? physical.subarray(offset) : undefined;
}

/** The first key of any partition, as it lies on disk. */
export function firstKeyFrom(db: LmdbDatabase, start: PhysicalKey): Buffer | undefined {
  pageReader.arena = new PageArena(0);
  pageReader.keyOffset = 0;
  const rows = db.getRange({ start }).iterate();
  try {
    const row = rows.next();
    return row.done === true ? undefined : row.value.key;
  } finally {
    rows.return?.();
  }
}
