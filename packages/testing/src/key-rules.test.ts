import { expect, test } from 'vitest';
import { findUnreadKeys } from './key-rules.ts';

const files = [{ path: 'a.ts', text: "const url = config.get('server.url');" }];

test('a key without a reader is found, one with a reader or a reason is fine', () => {
  expect(findUnreadKeys([{ name: 'server.url', ignored: undefined }], files)).toEqual([]);
  expect(findUnreadKeys([{ name: 'http2', ignored: 'HTTP/1.1 is used' }], files)).toEqual([]);
  expect(findUnreadKeys([{ name: 'http2', ignored: undefined }], files)).toEqual(['nothing reads http2']);
});

test('a key that is read must not say that it has no effect', () => {
  expect(findUnreadKeys([{ name: 'server.url', ignored: 'no' }], files)).toHaveLength(1);
});
