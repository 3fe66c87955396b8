import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { diskError } from './disk-errors.ts';
import { networkFileSystem, prepareFolder } from './folder.ts';

test('missing folders are made', async () => {
  const path = join(tempDir(), 'a', 'b.c');
  await prepareFolder(path);
  writeFileSync(join(path, 'file'), '');
});

test('a file in place of the folder is named with what to do', async () => {
  const path = join(tempDir(), 'file');
  writeFileSync(path, '');
  await expect(prepareFolder(path)).rejects.toMatchObject({
    kind: 'connect_failed',
    message: `key-value store ${path}: the path is a file, not a folder; set database.local.path to a folder`,
  });
});

test('network file systems are known by number, also when it comes as a negative one', () => {
  expect(networkFileSystem(0x6969)).toBe('NFS');
  expect(networkFileSystem(0xff534d42 | 0)).toBe('CIFS');
  expect(networkFileSystem(0xef53)).toBeUndefined();
});

test.each([
  [{ code: 'EACCES' }, 'change its owner or mode'],
  [{ code: 'ENOSPC' }, 'free some space'],
  [{ code: 'EROFS' }, 'mount it writable'],
  [new Error('No space left on device: Attempting to write page'), 'free some space'],
  [new Error('Input/output error'), 'full or failing'],
  [new Error('MDB_INVALID: File is not an LMDB file'), 'restore them from a backup'],
])('a failing disk is described by what to do: %s', (cause, advice) => {
  expect(diskError('unavailable', '/data/kv', cause).message).toContain('key-value store /data/kv: ');
  expect(diskError('unavailable', '/data/kv', cause).message).toContain(advice);
});
