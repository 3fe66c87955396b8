import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configurationDocument, undocumentedGroups } from './documentation.ts';

test('docs/configuration.md is what the schema says; "npm run docs" writes it', () => {
  const committed = readFileSync(join(import.meta.dirname, '../../../../docs/configuration.md'), 'utf8');
  expect(committed).toBe(configurationDocument());
});

test('every group of keys has a section', () => {
  expect(undocumentedGroups()).toEqual([]);
});
