import type { FaultProxy } from '@svc/testing';
import { expect } from 'vitest';
import type { BlockAdapter, ObjectPointer } from '../src/adapter.ts';
import { inParallel } from '../src/remote/in-parallel.ts';

async function putMany(
  adapter: BlockAdapter,
  storageNamespace: string,
  count: number,
): Promise<ObjectPointer[]> {
  const pointers = Array.from({ length: count }, (_, index) => ({
    storageNamespace,
    identifier: `ä b+c%/${index}`,
    identifierType: 'relative' as const,
  }));
  await inParallel(8, pointers, async (pointer) => void (await adapter.put(pointer, Buffer.from('x'))));
  return pointers;
}

async function keysOf(adapter: BlockAdapter, namespace: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of adapter.walk(`${namespace}/`))
    keys.push(...page.map((object) => object.relativeKey));
  return keys;
}

/** More objects than one request takes, some of which are not there, go with two. */
export async function deletesInBatches(
  adapter: BlockAdapter,
  namespace: string,
  proxy: FaultProxy,
  batchSize: number,
): Promise<void> {
  const pointers = await putMany(adapter, namespace, 20);
  const kept = { storageNamespace: namespace, identifier: 'kept', identifierType: 'relative' as const };
  await adapter.put(kept, Buffer.from('x'));
  const missing = Array.from({ length: batchSize }, (_, index) => ({
    ...kept,
    identifier: `missing ${index}`,
  }));
  const before = proxy.seen.length;
  expect(await adapter.deleteMany([...pointers, ...missing])).toEqual([]);
  expect(proxy.seen.slice(before).map(({ method }) => method)).toEqual(['POST', 'POST']);
  expect(await keysOf(adapter, namespace)).toEqual(['kept']);
  await adapter.delete(kept);
}

/** A store that refuses batches deletes all the same. */
export async function deletesOneByOne(
  adapter: BlockAdapter,
  namespace: string,
  proxy: FaultProxy,
): Promise<void> {
  const pointers = await putMany(adapter, namespace, 5);
  const before = proxy.seen.length;
  expect(await adapter.deleteMany(pointers)).toEqual([]);
  expect(proxy.seen.slice(before).map(({ method }) => method)).toEqual([
    'POST',
    ...pointers.map(() => 'DELETE'),
  ]);
  expect(await keysOf(adapter, namespace)).toEqual([]);
}
