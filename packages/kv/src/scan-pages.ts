import type { KvEntry, KvScanOptions } from './store.ts';

/** Keys from `lower` (inclusive) to `upper` (exclusive, undefined: to the end of the partition). */
export interface ScanRange {
  readonly lower: Buffer;
  readonly upper: Buffer | undefined;
}

export interface ScanPage {
  readonly entries: KvEntry[];
  /** True when nothing of the range follows this page. */
  readonly last: boolean;
}

const zero = Buffer.of(0);
const nothing = Buffer.alloc(0);

/** The smallest key greater than `key`. */
export function keyAfter(key: Uint8Array): Buffer {
  return Buffer.concat([key, zero]);
}

/** The smallest key greater than every key with `prefix`; undefined when there is none (only 0xff bytes). */
export function prefixEnd(prefix: Uint8Array): Buffer | undefined {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return undefined;
  const end = Buffer.from(prefix.subarray(0, length));
  end.writeUInt8(end.readUInt8(length - 1) + 1, length - 1);
  return end;
}

export function scanRange(options: KvScanOptions): ScanRange {
  let lower: Buffer = options.start === undefined ? nothing : Buffer.from(options.start);
  if (options.after !== undefined && Buffer.compare(options.after, lower) >= 0)
    lower = keyAfter(options.after);
  const before = options.before === undefined ? undefined : Buffer.from(options.before);
  const prefix = options.prefix;
  if (prefix === undefined || prefix.length === 0) return { lower, upper: before };
  if (Buffer.compare(prefix, lower) > 0) lower = Buffer.from(prefix);
  const end = prefixEnd(prefix);
  const isFirst = end === undefined || (before !== undefined && Buffer.compare(before, end) < 0);
  return { lower, upper: isFirst ? before : end };
}

/**
 * Turns a driver's "read one page of this range" into the paging every driver promises: the first page holds
 * min(batch, driver page) entries, each further one doubles up to the driver page, none is empty.
 */
export async function* scanPages(
  range: ScanRange,
  batch: number | undefined,
  driverPage: number,
  readPage: (lower: Buffer, upper: Buffer | undefined, limit: number) => ScanPage | Promise<ScanPage>,
): AsyncGenerator<KvEntry[], void, undefined> {
  let limit = batch !== undefined && batch > 0 ? Math.min(batch, driverPage) : driverPage;
  let lower = range.lower;
  for (;;) {
    const page = await readPage(lower, range.upper, limit);
    const lastEntry = page.entries.at(-1);
    if (lastEntry === undefined) return;
    // Taken before the page is handed out: the caller owns it afterwards.
    if (!page.last) lower = keyAfter(lastEntry.key);
    yield page.entries;
    if (page.last) return;
    limit = Math.min(limit * 2, driverPage);
  }
}
