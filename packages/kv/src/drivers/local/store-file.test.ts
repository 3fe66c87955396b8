import { closeSync, openSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { openLocalStore } from '../local.ts';

const partition = Buffer.from('p');
const key = Buffer.from('k');

async function openAndClose(path: string): Promise<string | undefined> {
  const store = await openLocalStore({ path, syncWrites: true });
  const found = await store.get(partition, key);
  await store.close();
  return found?.value.toString();
}

/** A store with one entry, and enough others that the root is not among the first pages. */
async function makeStore(): Promise<{ path: string; data: string }> {
  const path = tempDir();
  const store = await openLocalStore({ path, syncWrites: true });
  for (let n = 0; n < 100; n++) await store.set(partition, Buffer.from(`${n}`), Buffer.alloc(1000));
  await store.set(partition, key, Buffer.from('v'));
  await store.close();
  return { path, data: join(path, 'data.mdb') };
}

function overwrite(file: string, position: number, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, position);
  closeSync(descriptor);
}

const pageSize = 8192;
const damages: readonly (readonly [string, (data: string) => void, string])[] = [
  ['emptied', (data) => truncateSync(data, 0), 'is empty'],
  ['removed', (data) => rmSync(data), 'is missing'],
  ['cut to a few bytes', (data) => truncateSync(data, 100), 'does not begin like a store'],
  ['cut to one page', (data) => truncateSync(data, pageSize), 'has lost the second copy of its head'],
  ['cut to its heads', (data) => truncateSync(data, 2 * pageSize), 'has been cut off'],
  [
    'filled with zeros',
    (data) => overwrite(data, 0, Buffer.alloc(statSync(data).size)),
    'does not begin like a store',
  ],
  ['replaced by text', (data) => writeFileSync(data, 'hello '.repeat(10_000)), 'does not begin like a store'],
  [
    'spoilt in the first head',
    (data) => overwrite(data, 24, Buffer.alloc(4, 1)),
    'does not begin like a store',
  ],
  [
    'spoilt in the second head',
    (data) => overwrite(data, pageSize + 24, Buffer.alloc(4, 1)),
    'has lost the second copy of its head',
  ],
  [
    'given another page size',
    (data) => overwrite(data, 48, Buffer.from([1, 2, 3, 4])),
    'names no possible page size',
  ],
  [
    'given two page sizes',
    (data) => overwrite(data, pageSize + 48, Buffer.from([0, 0x10, 0, 0])),
    'has two heads that contradict each other',
  ],
];

test.each(damages)('a store that was %s is refused and left as it is', async (_, damage, reason) => {
  const { path, data } = await makeStore();
  damage(data);
  const sizeOf = (): number | undefined => statSync(data, { throwIfNoEntry: false })?.size;
  const before = sizeOf();
  await expect(openAndClose(path)).rejects.toThrow(reason);
  await expect(openAndClose(path)).rejects.toThrow('restore it from a backup');
  expect(sizeOf()).toBe(before);
});

test('a sound store, a new one and one whose creation was interrupted are opened', async () => {
  const { path } = await makeStore();
  expect(await openAndClose(path)).toBe('v');
  const interrupted = tempDir();
  writeFileSync(join(interrupted, 'creating'), '');
  writeFileSync(join(interrupted, 'lock.mdb'), '');
  writeFileSync(join(interrupted, 'data.mdb'), '');
  expect(await openAndClose(interrupted)).toBeUndefined();
  truncateSync(join(interrupted, 'data.mdb'), 0);
  await expect(openAndClose(interrupted)).rejects.toThrow('is empty');
});
