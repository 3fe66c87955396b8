import { tempDir } from '@svc/testing';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { context, openTestTrees, sorted, type TestTrees, writeTree } from '../committed/test/tree-fixture.ts';
import type { RecordIterator } from '../committed/tree.ts';
import { fillPage } from './fill-page.ts';
import { planWalk } from './key-range.ts';
import type { PageStorage } from './item-cursor.ts';
import { PageBuilder } from './object-page.ts';

let opened: TestTrees;
beforeAll(async () => {
  opened = await openTestTrees(tempDir());
});
afterAll(() => opened.trees.close());

interface Options {
  readonly prefix?: Buffer;
  readonly after?: Buffer;
  readonly delimiter?: Buffer;
}

const storage = {} as PageStorage;

/** Everything, in pages of a few items, each of which begins where the one before ended. */
async function show(
  open: (start: Buffer) => RecordIterator,
  options: Options,
  amount = 3,
): Promise<string[]> {
  const { prefix = bytes(''), after = bytes(''), delimiter = bytes('') } = options;
  const shown: string[] = [];
  for (let from = after; ;) {
    const walk = planWalk(prefix, from, delimiter.length === 0 ? undefined : delimiter);
    if (walk.start === undefined) return shown;
    const builder = new PageBuilder();
    const records = open(walk.start);
    const more = await fillPage(builder, records, walk, amount);
    records.close();
    builder.build(storage, more).visit(({ path, kind }) => {
      shown.push(path + (kind === 'common_prefix' ? ' (prefix)' : ''));
    });
    if (!more) return shown;
    from = Buffer.from(builder.lastKey());
  }
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
  const list = (options: Options) =>
    show((start) => opened.trees.iterate(context, id, start), { delimiter: bytes('/'), ...options });
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
        expect(await show((start) => opened.trees.iterate(context, id, start), options)).toEqual(
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
  let steps = 0;
  const counted = (start: Buffer): RecordIterator =>
    new Proxy(opened.trees.iterate(context, id, start), {
      get(target, name) {
        if (name === 'next') steps++;
        const value = Reflect.get(target, name, target) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  expect(await show(counted, { delimiter: bytes('/') }, 1000)).toHaveLength(51);
  expect(steps).toBeLessThan(60);
});
