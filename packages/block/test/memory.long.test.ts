import { tempDir, testServerOrSkip } from '@svc/testing';
import { expect, it } from 'vitest';
import { measureMemoryGrowth } from './memory-growth.ts';
import { createBucket, s3ConfigFor } from './test-bucket.ts';

const mebibytes = 5 * 1024;

for (const length of ['known', 'unknown'] as const) {
  it(`a 5 GiB object of ${length} length passes the local store in bounded memory`, () => {
    const result = measureMemoryGrowth({ type: 'local', path: tempDir() }, 'local://ns', {
      mebibytes,
      length,
    });
    expect(result.received).toBe(mebibytes * 1024 * 1024);
    expect(result.growth).toBeLessThan(100);
  });

  it(`a 5 GiB object of ${length} length passes the s3 store in bounded memory`, async ({ skip }) => {
    const server = await testServerOrSkip('versitygw');
    if (server === undefined) return skip();
    const config = s3ConfigFor(server);
    const namespace = `s3://${await createBucket(config)}`;
    const result = measureMemoryGrowth(config, namespace, { mebibytes, length });
    expect(result.received).toBe(mebibytes * 1024 * 1024);
    expect(result.growth).toBeLessThan(100);
  });
}
