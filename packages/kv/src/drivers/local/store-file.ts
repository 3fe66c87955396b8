import { closeSync, existsSync, openSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KvError } from '../../errors.ts';

/** LMDB describes a store twice, at the beginning of its first two pages. */
const meta = {
  magic: 24,
  pageSize: 48,
  freeRoot: 88,
  mainRoot: 136,
  lastPage: 144,
  transaction: 152,
  end: 160,
};
const magic = 0xbeefc0de;
const noRoot = 0xffff_ffff_ffff_ffffn;
const smallestPage = 512;
const largestPage = 65_536;
/** The last pages of a transaction are not written when it needed them only for a while. */
const mostUnwrittenPages = 256n;

/**
 * Opens a store after checking that it can be one. LMDB takes an emptied file for a new store, which anybody could then
 * set up. It trusts a damaged file until a signal ends the process. Nobody else may open the store or write to it at the
 * same time, so all of this happens at once: every turn of the event loop would hold up the writers of a busy server.
 */
export function openChecked<T>(folder: string, openStore: () => T): T {
  const file = join(folder, 'data.mdb');
  // Tells a creation that was interrupted from a store that was emptied.
  const creating = join(folder, 'creating');
  const size = sizeOf(file);
  const isCreating = existsSync(creating);
  if (size === undefined || size === 0) {
    const wasThere = size === 0 || existsSync(join(folder, 'lock.mdb'));
    if (wasThere && !isCreating) throw damaged(file, size === 0 ? 'is empty' : 'is missing', 'begin');
    writeFileSync(creating, '');
  } else {
    const problem = problemOf(file, BigInt(size));
    if (problem !== undefined) throw damaged(file, problem, 'restore');
  }
  const store = openStore();
  if (isCreating || size === undefined || size === 0) rmSync(creating, { force: true });
  return store;
}

function problemOf(file: string, size: bigint): string | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const first = readMeta(descriptor, 0);
    if (first === undefined) return 'does not begin like a store';
    const pageSize = first.readUInt32LE(meta.pageSize);
    // oxlint-disable-next-line no-bitwise
    const isPower = (pageSize & (pageSize - 1)) === 0;
    if (pageSize < smallestPage || pageSize > largestPage || !isPower) return 'names no possible page size';
    const second = readMeta(descriptor, pageSize);
    if (second === undefined) return 'has lost the second copy of its head';
    if (second.readUInt32LE(meta.pageSize) !== pageSize) return 'has two heads that contradict each other';
    const newest =
      first.readBigUInt64LE(meta.transaction) > second.readBigUInt64LE(meta.transaction) ? first : second;
    const pages = size / BigInt(pageSize);
    for (const root of [newest.readBigUInt64LE(meta.freeRoot), newest.readBigUInt64LE(meta.mainRoot)]) {
      if (root !== noRoot && root >= pages) return 'has been cut off';
    }
    if (newest.readBigUInt64LE(meta.lastPage) + 1n > pages + mostUnwrittenPages) return 'has been cut off';
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

function readMeta(descriptor: number, position: number): Buffer | undefined {
  const bytes = Buffer.alloc(meta.end);
  const bytesRead = readSync(descriptor, bytes, 0, meta.end, position);
  return bytesRead === meta.end && bytes.readUInt32LE(meta.magic) === magic ? bytes : undefined;
}

function damaged(file: string, what: string, remedy: 'begin' | 'restore'): KvError {
  const begin =
    remedy === 'begin' ? ', or remove its folder to begin a new installation without the old data' : '';
  return new KvError(
    'connect_failed',
    `key-value store ${file} ${what}: it was damaged from outside and nothing was changed; restore it from a backup${begin}`,
  );
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}
