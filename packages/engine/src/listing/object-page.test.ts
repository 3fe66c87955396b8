import { createMemAdapter } from '@svc/block';
import { expect, test } from 'vitest';
import { PageBuilder, type ListedPage } from './object-page.ts';

const storage = { adapter: createMemAdapter({}), storageNamespace: 'mem://r' };

function pageOf(...prefixes: string[]): ListedPage {
  const builder = new PageBuilder();
  for (const prefix of prefixes) builder.addPrefix(Buffer.from(prefix));
  return builder.build(storage, true);
}

const shown = (page: ListedPage): string[] => page.toArray().map(({ path }) => path);

function arenaOf(page: ListedPage): ArrayBufferLike | undefined {
  let arena: ArrayBufferLike | undefined;
  page.visit(({ key }) => (arena = key.buffer));
  return arena;
}

test('the memory of a page serves another once it is released, and not before', () => {
  const [one, other] = [pageOf('a/', 'b/'), pageOf('c/')];
  const arena = arenaOf(one);
  expect(arenaOf(other)).not.toBe(arena);
  one.release();
  one.release();
  const [next, last] = [pageOf('x/', 'y/', 'z/'), pageOf('w/')];
  expect(arenaOf(next)).toBe(arena);
  expect([shown(other), shown(next), shown(last)]).toEqual([['c/'], ['x/', 'y/', 'z/'], ['w/']]);
  expect(next.nextOffset).toBe('z/');
  expect(() => shown(one)).toThrow('released');
});

test('a page that outgrows its memory is whole', () => {
  const prefixes = Array.from({ length: 400 }, (_, i) => `${String(i).padStart(5, '0')}${'x'.repeat(1000)}/`);
  const page = pageOf(...prefixes);
  expect(shown(page)).toEqual(prefixes);
  page.release();
  expect(shown(pageOf('a/'))).toEqual(['a/']);
});
