import { expect, test } from 'vitest';
import { writeError } from './errors.ts';

test.each(['ENOSPC', 'EDQUOT'])('%s says what to do and may be tried again', (code) => {
  const error = writeError(Object.assign(new Error(code), { code }), '/data/x');
  expect(error).toMatchObject({ kind: 'no_space', retryable: true });
  expect(String(error)).toContain('free some space');
});
