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
