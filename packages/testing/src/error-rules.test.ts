import { expect, test } from 'vitest';
import { findWordedErrors } from './error-rules.ts';

const found = (text: string, path = 'packages/engine/src/a.ts'): number =>
  findWordedErrors([{ path, text }]).length;

test.each([
  "if (error.name === 'BlockError') return;",
  "if ('AbortError' !== error.name) throw error;",
  "if ((error as Error).message === 'gone') return;",
  "if (failure?.message.includes('full')) retry();",
  'if (/timed out/.test(cause.message)) retry();',
  'return kinds[error.name]?.[error.kind];',
  'if (retryable.has(readError.name)) retry();',
  'switch (error.name) {',
  "if (value.constructor.name === 'KvError') return;",
])('refuses %s', (text) => {
  expect(found(text)).toBe(1);
});

test.each([
  'if (error instanceof KvError && error.kind === "slow_down") retry();',
  "if (error.code === 'ENOENT') return undefined;",
  'logger.error({ name: error.name }, error.message);',
  "if (column.name === 'path') return;",
  "return error.message === '' ? fallback : error.message;",
])('accepts %s', (text) => {
  expect(found(text)).toBe(0);
});

test('tests may read what an error says', () => {
  expect(found("if (error.name === 'X') throw error;", 'packages/kv/src/a.test.ts')).toBe(0);
});
