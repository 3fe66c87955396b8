import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the files that the order of the suites names exist', () => {
  const source = readFileSync(join(import.meta.dirname, 'vitest-sequencer.ts'), 'utf8');
  const named = [...source.matchAll(/'(packages\/\S+\.test\.ts)'/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((path) => !existsSync(join(import.meta.dirname, '../../..', path)))).toEqual([]);
});
