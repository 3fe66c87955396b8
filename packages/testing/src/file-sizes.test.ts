import { expect, test } from 'vitest';
import { findLongFiles, mostLines } from './file-sizes.ts';

const file = (path: string, lines: number) => ({ path, text: 'x\n'.repeat(lines) });

test('a file of one line too many is found, generated ones may be longer', () => {
  expect(findLongFiles([file('a.ts', mostLines)], [])).toEqual([]);
  expect(findLongFiles([file('a.ts', mostLines + 1)], [])).toEqual([expect.stringContaining('a.ts: 401')]);
  expect(findLongFiles([file('a.ts', mostLines + 1)], ['a.ts'])).toEqual([]);
});

test('an exception that is no longer needed goes', () => {
  expect(findLongFiles([file('a.ts', 3)], ['a.ts'])).toEqual([expect.stringContaining('no exception')]);
});
