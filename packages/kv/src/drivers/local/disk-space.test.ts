import { expect, test } from 'vitest';
import { DiskSpace } from './disk-space.ts';

test('writes are refused while the disk is nearly full and go on once it is not', async () => {
  let free = 10 * 1024 * 1024;
  let now = 0;
  let looks = 0;
  const space = new DiskSpace(
    '/data/kv',
    () => {
      looks++;
      return Promise.resolve(free);
    },
    () => now,
  );
  await space.look();
  expect(() => space.require()).toThrow(/\/data\/kv: the disk is full .* free some space/);
  expect(() => space.require()).toThrow('the disk is full');
  expect(looks).toBe(2);
  free = 10 * 1024 * 1024 * 1024;
  now = 1000;
  expect(() => space.require()).toThrow('the disk is full');
  await Promise.resolve();
  await Promise.resolve();
  space.require();
  expect(looks).toBe(3);
});

test('a write that failed on a full disk is explained by it', async () => {
  let free = 10 * 1024 * 1024;
  const space = new DiskSpace('/data/kv', () => Promise.resolve(free));
  expect(await space.whenFull()).toMatchObject({ kind: 'no_space', retryable: true });
  free = 10 * 1024 * 1024 * 1024;
  expect(await space.whenFull()).toBeUndefined();
});

test('a disk that cannot be asked does not stop writes', async () => {
  const space = new DiskSpace('/data/kv', () => Promise.reject(new Error('no such folder')));
  await space.look();
  space.require();
});
