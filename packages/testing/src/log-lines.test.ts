import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findLogLines, logLinesDocument } from './log-lines.ts';

const root = join(import.meta.dirname, '../../..');

test('docs/logs.md has every line that a server logs; "npm run docs" writes it', () => {
  const files = globSync('packages/*/src/**/*.ts', { cwd: root }).map((path) => ({
    path,
    text: readFileSync(join(root, path), 'utf8'),
  }));
  expect(readFileSync(join(root, 'docs/logs.md'), 'utf8')).toBe(logLinesDocument(files));
});

test('lines are found with their level and fields, whatever holds the logger', () => {
  const text =
    "this.#options.logger.warn({ error, key: 'x', ...more }, `the ${kind} is away`); log.warn({}, 'no');";
  expect(findLogLines([{ path: 'packages/kv/src/a.ts', text }])).toEqual([
    { level: 'warn', message: 'the … is away', fields: ['error', 'key'], part: 'kv' },
  ]);
});
