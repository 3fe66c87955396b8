import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSources } from '../../../scripts/sources.ts';
import { findLogLines, logLinesDocument } from './log-lines.ts';

test('docs/logs.md has every line that a server logs; "npm run docs" writes it', () => {
  const committed = readFileSync(join(import.meta.dirname, '../../../docs/logs.md'), 'utf8');
  expect(committed).toBe(logLinesDocument(readSources('packages')));
});

test('lines are found with their level and fields, whatever holds the logger', () => {
  const text =
    "this.#options.logger.warn({ error, key: 'x', ...more }, `the ${kind} is away`); log.warn({}, 'no');";
  expect(findLogLines([{ path: 'packages/kv/src/a.ts', text }])).toEqual([
    { level: 'warn', message: 'the … is away', fields: ['error', 'key'], part: 'kv' },
  ]);
});
