import { expect, test } from 'vitest';
import { planTransfers } from './transfers.ts';

const object = { path: 'a/x.txt', path_type: 'object' } as const;
const folder = { path: 'a/dir/', path_type: 'common_prefix' } as const;
const targets = (...args: Parameters<typeof planTransfers>): string[] =>
  planTransfers(...args).transfers.map(({ to }) => to);

test('one entry takes the target as its path, several go into the target folder', () => {
  expect(targets([object], 'b/y.txt', true)).toEqual(['b/y.txt']);
  expect(targets([folder], 'b', true)).toEqual(['b/']);
  expect(targets([object, folder], 'b', true)).toEqual(['b/x.txt', 'b/dir/']);
  expect(targets([object, folder], '', true)).toEqual(['x.txt', 'dir/']);
});

test('what makes no sense is refused in words', () => {
  const problem = (...args: Parameters<typeof planTransfers>): string | undefined =>
    planTransfers(...args).problem;
  expect(problem([object], '', true)).toMatch(/destination/);
  expect(problem([object], 'b/', true)).toMatch(/name/);
  expect(problem([object], 'a/x.txt', true)).toMatch(/already/);
  expect(problem([folder], 'a/dir/deeper', true)).toMatch(/into itself/);
  expect(problem([object, folder], 'a/', true)).toMatch(/already/);
  expect(problem([object], 'a/x.txt', false)).toBeUndefined();
});
