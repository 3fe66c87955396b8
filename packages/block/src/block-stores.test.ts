import { execFileSync } from 'node:child_process';
import { tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { createMemAdapter } from './adapters/mem.ts';
import { BlockStores, openBlockStores } from './block-stores.ts';
import type { BlockStoreConfig } from './config.ts';

describe('BlockStores', () => {
  it('finds stores by id and the backward-compatible one for ""', () => {
    const a = createMemAdapter({ id: 'a' });
    const b = createMemAdapter({ id: 'b', backwardCompatible: true });
    const stores = new BlockStores([a, b]);
    expect(stores.get('a')).toBe(a);
    expect(stores.get('')).toBe(b);
    expect(stores.default).toBe(b);
    expect(stores.list()).toEqual([a, b]);
    expect(() => stores.get('c')).toThrow('"c" is not configured (configured: "a", "b")');
  });

  it('a single store without id answers for ""', () => {
    const only = createMemAdapter();
    expect(new BlockStores([only]).get('')).toBe(only);
  });

  it('says when nothing answers for ""', () => {
    const stores = new BlockStores([createMemAdapter({ id: 'a' })]);
    expect(stores.default).toBeUndefined();
    expect(() => stores.get('')).toThrow('backward_compatible');
  });

  it('refuses contradictions', () => {
    const ids = (...list: [string, boolean][]): BlockStores =>
      new BlockStores(list.map(([id, backwardCompatible]) => createMemAdapter({ id, backwardCompatible })));
    expect(() => ids(['a', false], ['a', false])).toThrow('unique');
    expect(() => ids(['a', true], ['b', true])).toThrow('at most one');
    expect(() => ids(['a', false], ['', false])).toThrow('non-empty id');
  });
});

describe('openBlockStores', () => {
  it('opens what is configured', async () => {
    const stores = await openBlockStores([
      { type: 'mem', id: 'm' },
      { type: 'local', id: 'l', path: tempDir(), backwardCompatible: true },
    ]);
    expect(stores.list().map((store) => store.type)).toEqual(['mem', 'local']);
    expect(stores.get('').type).toBe('local');
    await stores.close();
  });

  it('refuses an unknown type by naming the choices', async () => {
    const config = { type: 'floppy' } as unknown as BlockStoreConfig;
    await expect(openBlockStores([config])).rejects.toThrow('unknown block store type "floppy"');
  });

  it('loads no cloud code for a local store', () => {
    const script = `
      import { openBlockStores } from ${JSON.stringify(new URL('block-stores.ts', import.meta.url).href)};
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      const stores = await openBlockStores([{ type: 'local', path: ${JSON.stringify(tempDir())} }]);
      await stores.close();
      console.log(JSON.stringify(loaded));
    `;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    const loaded = JSON.parse(output) as string[];
    expect(loaded.some((url) => url.includes('local-adapter'))).toBe(true);
    expect(
      loaded.filter((url) =>
        /@aws-sdk|@azure|@google-cloud|undici|adapters\/(s3|azure|gs)|\/remote\//.test(url),
      ),
    ).toEqual([]);
  });
});
