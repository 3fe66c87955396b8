import { tempDir } from '@svc/testing';
import { describeKvStore } from '@svc/kv/suite';
import { describe, expect, test } from 'vitest';
import type { KvEntry, KvScanOptions, KvStore } from '../store.ts';
import { openLocalStore } from './local.ts';
import { maxPhysicalKeyLength } from './local/physical-key.ts';

// The dot would make a file of the folder if the driver let it.
const path = tempDir('svc.kv');
const open = (): Promise<KvStore> => openLocalStore({ path, syncWrites: true });
describeKvStore('local', open);

describe('keys of the local store', () => {
  const partition = Buffer.from('long-keys');
  const longest = Buffer.alloc(maxPhysicalKeyLength - 2 - partition.length, 'k');
  const tooLong = Buffer.concat([longest, Buffer.from('k')]);
  const key = Buffer.from('short');

  test('a physical key of 4026 bytes is taken, a longer one refused before anything is written', async () => {
    const store = await open();
    await store.set(partition, longest, Buffer.from('v'));
    expect((await store.get(partition, longest))?.value).toEqual(Buffer.from('v'));
    for (const write of [
      () => store.set(partition, tooLong, Buffer.from('v')),
      () => store.setIf(partition, tooLong, Buffer.from('v'), 'absent'),
      () => store.setIf(partition, tooLong, Buffer.from('v'), 'present'),
      () =>
        store.setMany(partition, [
          { key, value: key },
          { key: tooLong, value: key },
        ]),
      () =>
        store.change(partition, { key, condition: 'absent' }, [
          { type: 'put', key, value: key },
          { type: 'create', key: tooLong, value: key },
        ]),
    ]) {
      await expect(write()).rejects.toMatchObject({
        kind: 'key_too_long',
        message:
          'key too long: partition and key have 4025 bytes, the local store takes 4024; use a shorter name',
      });
    }
    expect(await store.get(partition, tooLong)).toBeUndefined();
    await store.delete(partition, tooLong);
    expect((await pagesOf(store, partition)).flat().map((entry) => entry.key)).toEqual([longest]);
    await store.close();
  });

  test('bounds longer than any key cut a scan where they should', async () => {
    const store = await open();
    await store.set(partition, longest, Buffer.from('v'));
    const count = async (options: KvScanOptions): Promise<number> =>
      (await pagesOf(store, partition, options)).flat().length;
    expect(await count({ start: longest })).toBe(1);
    expect(await count({ after: longest })).toBe(0);
    expect(await count({ start: tooLong })).toBe(0);
    expect(await count({ prefix: tooLong })).toBe(0);
    expect(await count({ prefix: longest })).toBe(1);
    expect(await store.scan(Buffer.alloc(5000, 'p')).next()).toMatchObject({ done: true });
    await store.close();
  });

  test('partitions of 0xff bytes have an end', async () => {
    const store = await open();
    for (const name of [
      Buffer.of(0xff),
      Buffer.of(0xff, 0xff),
      Buffer.of(0x01, 0xff),
      Buffer.of(0x02, 0x00),
    ]) {
      await store.set(name, Buffer.of(0xff), name);
      const entries = (await pagesOf(store, name)).flat();
      expect(entries).toEqual([{ key: Buffer.of(0xff), value: name }]);
    }
    await store.close();
  });

  test('pages of large values end early', async () => {
    const store = await open();
    const large = Buffer.from('large');
    for (let index = 0; index < 12; index++)
      await store.set(large, Buffer.of(index), Buffer.alloc(1 << 20, index));
    const pages = await pagesOf(store, large);
    expect(pages.map((page) => page.length)).toEqual([4, 4, 4]);
    expect(pages.flat().every((entry) => entry.value.every((byte) => byte === entry.key[0]))).toBe(true);
    await store.close();
  });
});

test('without sync_writes everything but the flush is the same', async () => {
  const store = await openLocalStore({ path, syncWrites: false });
  await store.set(Buffer.from('fast'), Buffer.from('k'), Buffer.from('1'));
  expect(await store.setIf(Buffer.from('fast'), Buffer.from('k'), Buffer.from('2'), 'present')).toBe(true);
  expect((await store.get(Buffer.from('fast'), Buffer.from('k')))?.value).toEqual(Buffer.from('2'));
  await store.close();
});

async function pagesOf(store: KvStore, partition: Uint8Array, options?: KvScanOptions): Promise<KvEntry[][]> {
  const pages: KvEntry[][] = [];
  for await (const page of store.scan(partition, options)) pages.push(page);
  return pages;
}
