import { expect, test } from 'vitest';
import { isTableId, tablePath } from './table-id.ts';

const id = '0123456789abcdef'.repeat(4);

test.each([
  '',
  'a',
  id.slice(1),
  `${id}0`,
  id.toUpperCase(),
  `${id.slice(1)}g`,
  `${id.slice(1)}/`,
  `${id.slice(1)}:`,
  `${id.slice(1)}\``,
  `${id}\n`,
  `\n${id.slice(1)}`,
  '../'.repeat(21).padEnd(64, '.'),
  `${'../'.repeat(12)}dev/zero`,
])('%j never becomes part of a path', (text) => {
  expect(isTableId(text)).toBe(false);
  expect(() => tablePath('/folder', text)).toThrow(/is not the id of a range or metarange/);
});

test('an id is 64 hexadecimal digits', () => {
  expect(isTableId(id)).toBe(true);
  expect(tablePath('/folder', id)).toBe(`/folder/${id}`);
});
