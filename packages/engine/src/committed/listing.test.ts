import { tempDir } from '@svc/testing';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Listing } from './listing.ts';
import { context, openTestTrees, sorted, type TestTrees, writeTree } from './test/tree-fixture.ts';
import type { ListOptions, RecordIterator } from './tree.ts';

let opened: TestTrees;
beforeAll(async () => {
  opened = await openTestTrees(tempDir());
});
afterAll(() => opened.trees.close());

async function show(records: RecordIterator, options: ListOptions): Promise<string[]> {
  const listing = new Listing(records, options);
  const shown: string[] = [];
  while (await listing.next())
    shown.push(listing.key.toString() + (listing.commonPrefix === undefined ? '' : ' (prefix)'));
  listing.close();
  return shown;
}

function expected(keys: readonly string[], prefix: string, after: string, delimiter: string): string[] {
  const items: string[] = [];
  for (const key of keys) {
    if (!key.startsWith(prefix)) continue;
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    const folded = at < 0 ? undefined : key.slice(0, at + delimiter.length);
    const passed =
      folded === undefined
        ? key <= after
        : key < after || after === folded || (key === after && folded === after);
    if (passed || (folded !== undefined && after === folded)) continue;
    const item = folded === undefined ? key : `${folded} (prefix)`;
    if (items.at(-1) !== item) items.push(item);
  }
  return items;
}

const bytes = (text: string): Buffer => Buffer.from(text);

test('pages over files and folders', async () => {
  const id = await writeTree(
    opened.trees,
    new Map(['file1', 'file2', 'file3', 'h/x', 'h/y'].map((key) => [key, 'c'])),
  );
  const list = (options: ListOptions) =>
    show(opened.trees.iterate(context, id), { delimiter: bytes('/'), ...options });
  expect(await list({})).toEqual(['file1', 'file2', 'file3', 'h/ (prefix)']);
  expect(await list({ after: bytes('file3') })).toEqual(['h/ (prefix)']);
  expect(await list({ after: bytes('h/') })).toEqual([]);
  expect(await list({ after: bytes('h/x') })).toEqual(['h/ (prefix)']);
  expect(await list({ prefix: bytes('h/') })).toEqual(['h/x', 'h/y']);
  expect(await list({ prefix: bytes('h') })).toEqual(['h/ (prefix)']);
});

test('agrees with folding every key', async () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { maxLength: 30 }),
      fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 2 }),
      fc.option(key, { nil: '' }),
      fc.constantFrom('', '/', '.', '/a'),
      async (keys, prefix, after, delimiter) => {
        const ordered = sorted(new Map(keys.map((each) => [each, 'c']))).map(([each]) => each);
        const id = await writeTree(opened.trees, new Map(keys.map((each) => [each, 'c'])));
        const options = { prefix: bytes(prefix), after: bytes(after), delimiter: bytes(delimiter) };
        expect(await show(opened.trees.iterate(context, id), options)).toEqual(
          expected(ordered, prefix, after, delimiter),
        );
      },
    ),
    { numRuns: 100 },
  );
});

test('passes a folder by seeking, not by reading it', async () => {
  const keys = Array.from(
    { length: 500 },
    (_, i) => `${i < 450 ? 'big' : `s${i}`}/${String(i).padStart(4, '0')}`,
  );
  const id = await writeTree(opened.trees, new Map(keys.map((key) => [key, 'c'])));
  const records = opened.trees.iterate(context, id);
  let steps = 0;
  const counted = new Proxy(records, {
    get(target, name) {
      if (name === 'next') steps++;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  expect(await show(counted, { delimiter: bytes('/') })).toHaveLength(51);
  expect(steps).toBeLessThan(60);
});
