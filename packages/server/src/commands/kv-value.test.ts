import {
  addressRelative,
  branchMessage,
  credentialMessage,
  encodeEntry,
  encodeStagedEntry,
  encodeTombstone,
  entryIdentity,
} from '@svc/encoding';
import { expect, test } from 'vitest';
import { readableValue } from './kv-value.ts';

test('records are shown by what they are', () => {
  const branch = { id: 'main', commitId: 'c1', stagingToken: 't', sealedTokens: [], hidden: false };
  expect(
    readableValue(
      'repo1-9m4e2mr0ui3e8a215n4g',
      'branches/main',
      branchMessage.encode({ ...branch, lastMove: Buffer.alloc(0) }),
    ),
  ).toMatchObject(branch);
  expect(readableValue('kv-internal-metadata', 'kv/schema/version', Buffer.from('4'))).toBe('4');
  const entry = {
    address: 'data/x',
    addressType: addressRelative,
    lastModified: { seconds: 1, nanos: 0 },
    size: 3,
    etag: 'e',
    metadata: {},
    contentType: '',
  } as const;
  const token = 'repo1-main:0b0e3d1e-2a53-4f4c-9f2e-0e9d1a2b3c4d';
  const staged = encodeStagedEntry(Buffer.from('a'), entryIdentity(entry), encodeEntry(entry));
  expect(readableValue(token, 'a', staged)).toMatchObject({
    key: 'a',
    entry: { address: 'data/x', size: 3 },
  });
  expect(readableValue(token, 'a', encodeTombstone(Buffer.from('a')))).toMatchObject({ entry: null });
});

test('secrets stay hidden, and what is not known or damaged is base64', () => {
  const value = credentialMessage.encode({
    accessKeyId: 'AKIA',
    secretAccessKeyEncryptedBytes: Buffer.from('sealed'),
    issuedDate: { seconds: 1, nanos: 0 },
    userId: Buffer.from('admin'),
    hasView: false,
  });
  expect(readableValue('auth', 'credentials/AKIA', value)).toMatchObject({
    accessKeyId: 'AKIA',
    secretAccessKeyEncryptedBytes: '******',
    userId: 'admin',
  });
  expect(readableValue('elsewhere', 'key', Buffer.from([0xff]))).toBe('/w==');
  expect(readableValue('graveler', 'repos/x', Buffer.from([0x0a, 0xff]))).toBe('Cv8=');
});
