import { BlockStores } from '@svc/block';
import { createTestAdapter } from '@svc/block/named-store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedClient, type Ask } from './checked-client.ts';
import { engineOver } from './mem-engine.ts';
import { startApi, type RunningApi } from './start-api.ts';

const adapter = createTestAdapter();
const branch = '/repositories/lies/branches/main';
let api: RunningApi;
let ask: Ask;
let lies = 0;

beforeAll(async () => {
  api = await startApi((kv, bus) => engineOver(new BlockStores([adapter]), kv, bus));
  ask = checkedClient(api.url);
  await ask('POST', '/repositories', { json: { name: 'lies', storage_namespace: 'mem://lies' } });
});
afterAll(() => api.stop());

const pointer = (identifier: string) =>
  ({ storageNamespace: 'mem://lies', identifier, identifierType: 'full' }) as const;

/** Stages an entry before its data is there, then stores other data than it says. */
async function lie(size: number, data: string): Promise<string> {
  const path = `lie-${lies++}`;
  const address = `mem://elsewhere/${path}`;
  const staged = await ask('PUT', `${branch}/objects?path=${path}`, {
    json: { physical_address: address, checksum: 'c', size_bytes: size },
  });
  expect(staged.status).toBe(201);
  await adapter.put(pointer(address), Buffer.from(data));
  return `/repositories/lies/refs/main/objects?path=${path}`;
}

test('data that is shorter than its entry says is no download', async () => {
  for (const data of ['', '12345', '123456789']) {
    const object = await lie(10, data);
    const whole = await ask('GET', object);
    expect([whole.status, whole.body.message]).toEqual([410, expect.stringContaining('No data')]);
    const end = await ask('GET', object, { headers: { range: 'bytes=8-9' } });
    expect(end.status).toBe(410);
    const beyond = await ask('GET', object, { headers: { range: 'bytes=-1' } });
    expect(beyond.status).toBe(410);
  }
  const start = await ask('GET', await lie(10, '12345'), { headers: { range: 'bytes=0-4' } });
  expect([start.status, start.text]).toEqual([206, '12345']);
  expect(api.failures).toEqual([]);
});

test('data that is longer than its entry says is cut', async () => {
  const object = await lie(3, '12345');
  const whole = await ask('GET', object);
  expect([whole.status, whole.text, whole.headers.get('content-length')]).toEqual([200, '123', '3']);
  const range = await ask('GET', object, { headers: { range: 'bytes=1-9' } });
  expect([range.status, range.text, range.headers.get('content-range')]).toEqual([206, '23', 'bytes 1-2/3']);
  const empty = await ask('GET', await lie(0, 'x'.repeat(100_000)));
  expect([empty.status, empty.text]).toEqual([200, '']);
});

test('a size that the store knows better is refused when data is linked', async () => {
  const backing = `${branch}/staging/backing?path=known`;
  const { physical_address: address } = (await ask('GET', backing)).body;
  await adapter.put(pointer(String(address)), Buffer.from('12345'));
  const link = (size: number) =>
    ask('PUT', backing, {
      json: { staging: { physical_address: address }, checksum: 'c', size_bytes: size },
    });
  for (const size of [0, 4, 6, 200_002]) {
    const { status, body } = await link(size);
    expect([status, body.message]).toEqual([400, expect.stringContaining('5 bytes')]);
  }
  expect((await link(-1)).status).toBe(400);
  expect((await ask('GET', '/repositories/lies/refs/main/objects/stat?path=known')).status).toBe(404);
  expect((await link(5)).status).toBe(200);
});

test('what lies about its size is not copied', async () => {
  for (const data of ['12345', '123456789012345']) {
    const path = (await lie(10, data)).split('path=')[1];
    const copied = await ask('POST', `${branch}/objects/copy?dest_path=copy`, { json: { src_path: path } });
    expect([copied.status, copied.body.message]).toEqual([400, expect.stringContaining('instead of 10')]);
    expect((await ask('GET', '/repositories/lies/refs/main/objects/stat?path=copy')).status).toBe(404);
  }
});
