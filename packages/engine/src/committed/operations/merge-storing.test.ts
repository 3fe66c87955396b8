import { createMemAdapter, type BlockAdapter } from '@svc/block';
import { tempDir } from '@svc/testing';
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { context, openTestTrees, readTree, type TestTrees, writeTree } from '../test/tree-fixture.ts';
import type { MergeInput } from '../tree.ts';

let opened: TestTrees;
let cacheDir: string;
/** Runs before anything is stored. */
let beforePut: () => Promise<void>;

beforeEach(async () => {
  beforePut = async () => undefined;
  const store = createMemAdapter({});
  const adapter = new Proxy(store, {
    get(target, name: keyof BlockAdapter) {
      const member: unknown = target[name];
      if (name === 'put') {
        return async (...put: Parameters<BlockAdapter['put']>) => {
          await beforePut();
          return target.put(...put);
        };
      }
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  cacheDir = tempDir();
  opened = await openTestTrees(cacheDir, { adapter });
});
afterEach(() => opened.trees.close());

/** Each side changed another range, so that nothing but the list of ranges is to be stored. */
async function sidesApart(): Promise<MergeInput> {
  const { trees } = opened;
  const keys = Array.from({ length: 200 }, (_, i) => `key-${String(i).padStart(3, '0')}`);
  const base = new Map(keys.map((key) => [key, `content of ${key}`]));
  const source = new Map(base).set('key-000', 'changed by the source');
  const destination = new Map(base).set('key-199', 'changed by the destination');
  return {
    base: await writeTree(trees, base),
    source: await writeTree(trees, source),
    destination: await writeTree(trees, destination),
    strategy: 'none',
  };
}

function cachedFiles(): string[] {
  return readdirSync(cacheDir, { recursive: true, encoding: 'utf8' });
}

test('the id is told while the tree is being stored, and the merge ends when it is', async () => {
  const { trees } = opened;
  const input = await sidesApart();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let puts = 0;
  beforePut = () => {
    puts++;
    return gate;
  };
  const { promise: told, resolve: tell } = Promise.withResolvers<string>();
  let ended = false;
  const merging = trees.merge(context, input, tell).finally(() => (ended = true));
  const id = await told;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect({ puts, ended, stored: (await trees.outline(context, id)) !== undefined }).toEqual({
    puts: 1,
    ended: false,
    stored: false,
  });
  open();
  expect(await merging).toEqual({ kind: 'merged', metaRangeId: id });
  expect((await trees.outline(context, id)) !== undefined).toBe(true);
  const merged = await readTree(trees, id);
  expect([merged.get('key-000'), merged.get('key-199'), merged.size]).toEqual([
    'changed by the source',
    'changed by the destination',
    200,
  ]);
});

test('a tree that cannot be stored fails the merge although its id was told, and leaves no copy', async () => {
  const { trees } = opened;
  const input = await sidesApart();
  const before = cachedFiles();
  const failure = new Error('the disk is full');
  beforePut = () => Promise.reject(failure);
  let told = '';
  await expect(trees.merge(context, input, (id) => (told = id))).rejects.toBe(failure);
  expect(told).toMatch(/^[0-9a-f]{64}$/);
  expect(cachedFiles()).toEqual(before);
});

test('who is told and fails fails the merge, once the tree is stored', async () => {
  const { trees } = opened;
  const input = await sidesApart();
  let told = '';
  const failure = new Error('could not prepare');
  const merging = trees.merge(context, input, (id) => {
    told = id;
    throw failure;
  });
  await expect(merging).rejects.toBe(failure);
  expect((await trees.outline(context, told)) !== undefined).toBe(true);
});
