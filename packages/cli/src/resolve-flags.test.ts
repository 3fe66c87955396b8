import { expect, test } from 'vitest';
import { parseResolve } from './resolve-flags.ts';

test('a resolution names a take and what it is for', () => {
  expect(
    ['theirs:prefix:tables/', 'ours:glob:**/*:x', 'delete:path:a', 'fail:prefix:'].map(parseResolve),
  ).toEqual([
    { prefix: 'tables/', take: 'source' },
    { glob: '**/*:x', take: 'destination' },
    { path: 'a', take: 'delete' },
    { prefix: '', take: 'fail' },
  ]);
  expect(['append:table:sales.eu.orders', 'source:table:orders'].map(parseResolve)).toEqual([
    { path: 'sales/eu/_iceberg/tables/orders.json', take: 'append' },
    { path: '_iceberg/tables/orders.json', take: 'source' },
  ]);
  expect(() => parseResolve('append:prefix:sales/')).toThrow('append needs a table');
  for (const wrong of ['source', 'source:tables/', 'mine:path:a', 'object:path:a', 'path:a']) {
    expect(() => parseResolve(wrong)).toThrow(/is not <take>:<selector>/);
  }
});
