import { access, open, rm, stat, writeFile } from 'node:fs/promises';
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
 * set up. It trusts a damaged file until a signal ends the process. Nobody else may open the store at the same time.
 */
export async function openChecked<T>(folder: string, openStore: () => T): Promise<T> {
  const file = join(folder, 'data.mdb');
  // Tells a creation that was interrupted from a store that was emptied.
  const creating = join(folder, 'creating');
  const size = await sizeOf(file);
  const isCreating = await exists(creating);
  if (size === undefined || size === 0) {
    const wasThere = size === 0 || (await exists(join(folder, 'lock.mdb')));
    if (wasThere && !isCreating) throw damaged(file, size === 0 ? 'is empty' : 'is missing', 'begin');
    await writeFile(creating, '');
  } else {
    const problem = await problemOf(file, BigInt(size));
    if (problem !== undefined) throw damaged(file, problem, 'restore');
  }
  const store = openStore();
  if (isCreating || size === undefined || size === 0) await rm(creating, { force: true });
  return store;
}

async function problemOf(file: string, size: bigint): Promise<string | undefined> {
  const handle = await open(file, 'r');
  try {
    const first = await readMeta(handle, 0);
    if (first === undefined) return 'does not begin like a store';
    const pageSize = first.readUInt32LE(meta.pageSize);
    // oxlint-disable-next-line no-bitwise
    const isPower = (pageSize & (pageSize - 1)) === 0;
    if (pageSize < smallestPage || pageSize > largestPage || !isPower) return 'names no possible page size';
    const second = await readMeta(handle, pageSize);
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
    await handle.close();
  }
}

async function readMeta(
  handle: Awaited<ReturnType<typeof open>>,
  position: number,
): Promise<Buffer | undefined> {
  const bytes = Buffer.alloc(meta.end);
  const { bytesRead } = await handle.read(bytes, 0, meta.end, position);
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

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
