import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventTypes } from './index.ts';

test('the page about events names every type, and no other', () => {
  const page = readFileSync(new URL('../../../docs/events.md', import.meta.url), 'utf8');
  const [, table = ''] = /^(\| Type `svc\.…`.*?)\n\n/ms.exec(page) ?? [];
  const named = table
    .split('\n')
    .slice(2)
    .flatMap((row) => {
      const types = row.split('|')[1] ?? '';
      // Of `branch.created`, `moved` the second is about a branch, too.
      let about = '';
      return [...types.matchAll(/`([a-z_]+)(?:\.([a-z_]+))?`/g)].map(([, first = '', second]) => {
        if (second !== undefined) about = first;
        return `svc.${about}.${second ?? first}`;
      });
    });
  expect(named.toSorted()).toEqual(eventTypes.toSorted());
});
