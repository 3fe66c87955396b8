import { BlockError } from '@svc/block';
import { KvError } from '@svc/kv';
import { expect, test } from 'vitest';
import { refusalOf } from './error-table.ts';

test.each([new KvError('no_space', '/data: full'), new BlockError('no_space', '/data: full')])(
  'a full disk is said to be one, without its path ($name)',
  (error) => {
    const { status, message, unexpected } = refusalOf(error);
    expect([status, unexpected]).toEqual([503, true]);
    expect(message).toMatch(/disk of the server is full.*free some space/);
    expect(message).not.toContain('/data');
  },
);

test.each([
  [new KvError('slow_down', 'busy'), 503],
  [new KvError('key_too_long', 'key too long'), 400],
  [new KvError('closed', 'closed'), 500],
  [new BlockError('not_found', '/data/x'), 410],
  [new BlockError('configuration', 'no bucket'), 500],
  // A stranger that calls itself so is none of ours.
  [Object.assign(new Error('busy'), { name: 'KvError', kind: 'slow_down' }), 500],
])('%s is answered with %i', (error, status) => {
  expect(refusalOf(error).status).toBe(status);
});
