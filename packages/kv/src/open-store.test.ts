import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { openStore, type KvStoreConfig } from './open-store.ts';

test('each kind of store is opened by its name', async () => {
  const path = tempDir('svc-kv');
  for (const [config, type] of [
    [{ type: 'mem' }, 'mem'],
    [{ type: 'local', path, syncWrites: true }, 'local'],
    [{ type: 'local', path: 'memory:', syncWrites: true }, 'mem'],
  ] as const) {
    const store = await openStore(config);
    expect(store.type).toBe(type);
    await store.close();
  }
});

test('an unknown kind is named', async () => {
  await expect(openStore({ type: 'oracle' } as unknown as KvStoreConfig)).rejects.toMatchObject({
    kind: 'unknown_driver',
    message: 'unknown driver: oracle',
  });
});

test('a store in memory loads neither lmdb nor pg', () => {
  const program = `
    const loaded = new Set();
    const { registerHooks } = await import('node:module');
    registerHooks({ load(url, context, next) { loaded.add(url); return next(url, context); } });
    const { openStore, lockLocalStore } = await import(${JSON.stringify(join(import.meta.dirname, 'index.ts'))});
    await openStore({ type: 'mem' });
    console.log(JSON.stringify([...loaded].filter((url) => /node_modules/.test(url))));
  `;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(JSON.parse(output)).toEqual([]);
});
