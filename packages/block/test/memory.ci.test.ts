import { tempDir, testServerOrSkip } from '@svc/testing';
import { expect, it } from 'vitest';
import { measureMemoryGrowth } from './memory-growth.ts';
import { createBucket, s3ConfigFor } from './test-bucket.ts';

const mebibyte = 1024 * 1024;
// Compiled on a first run, so the time limit of a test must not hold.
const server = await testServerOrSkip('versitygw');

it('a 512 MiB object passes the local store in bounded memory', () => {
  const result = measureMemoryGrowth({ type: 'local', path: tempDir() }, 'local://ns', {
    mebibytes: 512,
    length: 'known',
  });
  expect(result.received).toBe(512 * mebibyte);
  expect(result.growth).toBeLessThan(100);
});

it('a 256 MiB object of unknown length passes the s3 store in bounded memory', async ({ skip }) => {
  if (server === undefined) return skip();
  const config = s3ConfigFor(server);
  const namespace = `s3://${await createBucket(config)}`;
  const result = measureMemoryGrowth(config, namespace, { mebibytes: 256, length: 'unknown' });
  expect(result.received).toBe(256 * mebibyte);
  expect(result.growth).toBeLessThan(100);
});
