import { createMemStore, type KvStore } from '@svc/kv';
import { expect, test } from 'vitest';
import { checkSchemaVersion } from '../compose/schema-version.ts';
import { copyStore } from './copy-store.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

async function filled(): Promise<KvStore> {
  const store = createMemStore();
  for (let i = 0; i < 2500; i++) await store.set(bytes('lake'), bytes(`k${i}`), bytes(`v${i}`));
  await store.set(bytes('kv-internal-metadata'), bytes('kv/schema/version'), bytes('4'));
  await store.set(Buffer.from([0xff, 0]), Buffer.from([0, 0xff]), Buffer.alloc(0));
  return store;
}

async function everything(store: KvStore): Promise<string[]> {
  const found: string[] = [];
  for await (const partition of store.partitions()) {
    for await (const page of store.scan(partition)) {
      for (const { key, value } of page)
        found.push([partition, key, value].map((part) => part.toString('hex')).join(' '));
    }
  }
  return found;
}

const told: string[] = [];
const parts = { from: 'mem a', progress: (text: string) => void told.push(text) };

test('a store is copied whole, names that are no text included', async () => {
  const [source, target] = [await filled(), createMemStore()];
  expect(await copyStore({ ...parts, source, target })).toBe(2502);
  expect(await everything(target)).toEqual(await everything(source));
});

test('no server starts on a store that is half copied, and the next copy goes on where it ended', async () => {
  const [source, target] = [await filled(), createMemStore()];
  const written: number[] = [];
  let left = 1;
  const breaking: KvStore = Object.create(target, {
    setMany: {
      value: async (partition: Buffer, records: { key: Buffer; value: Buffer }[]) => {
        if (left-- === 0) throw new Error('the network is gone');
        written.push(records.length);
        await target.setMany(partition, records);
      },
    },
  }) as KvStore;
  // Private fields of the store do not pass through a prototype.
  for (const name of ['get', 'set', 'delete', 'scan', 'partitions', 'maxKeyBytes'] as const) {
    Object.defineProperty(breaking, name, { value: target[name].bind(target) });
  }
  await expect(copyStore({ ...parts, source, target: breaking })).rejects.toThrow('the network is gone');
  await expect(checkSchemaVersion(target)).rejects.toThrow(/migration from mem a has not finished/);
  await expect(copyStore({ ...parts, source, target, from: 'mem b' })).rejects.toThrow(
    /from mem a, not from/,
  );
  left = 1000;
  await copyStore({ ...parts, source, target: breaking });
  expect(written.reduce((sum, count) => sum + count, 0)).toBe(2502);
  expect(await everything(target)).toEqual(await everything(source));
  await checkSchemaVersion(target);
});

test('a store that holds something, a key that is too long and a change meanwhile are refused', async () => {
  const source = await filled();
  const taken = createMemStore();
  await taken.set(bytes('p'), bytes('k'), bytes('v'));
  await expect(copyStore({ ...parts, source, target: taken })).rejects.toThrow(/not empty.*"p"/);

  const narrow = createMemStore();
  narrow.maxKeyBytes = () => 3;
  await expect(copyStore({ ...parts, source, target: narrow })).rejects.toThrow(/longer than mem can hold/);
  expect(await everything(narrow)).toEqual([]);

  const target = createMemStore();
  const setMany = target.setMany.bind(target);
  let changes = 0;
  target.setMany = async (partition, records) => {
    await setMany(partition, records);
    await source.set(bytes('lake'), bytes('k0'), bytes(`changed ${changes++}`));
  };
  await expect(copyStore({ ...parts, source, target })).rejects.toThrow(/differs from its source at "k0"/);
});
