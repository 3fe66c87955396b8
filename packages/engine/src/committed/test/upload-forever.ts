// Run as a process: writes a tree to a folder store, and stops for good inside the upload of the first range.
import { mkdirSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { BlockAdapter, BodySource } from '@svc/block';
import { createCommittedTrees } from '../committed-trees.ts';
import { ArrayIterator, context, toRecord } from './tree-fixture.ts';

const root = process.argv[2] as string;
const store = {
  async put(_pointer: unknown, body: BodySource) {
    mkdirSync(join(root, 'store'), { recursive: true });
    const bytes = body instanceof Uint8Array ? body : Buffer.from('stream');
    // Half of the object reaches the store's own temporary place, never its name.
    writeFileSync(join(root, 'store', 'half-written'), bytes.subarray(0, bytes.length / 2));
    process.stdout.write('uploading\n');
    await new Promise(() => setInterval(() => undefined, 1000));
  },
};
const trees = await createCommittedTrees({
  blockStores: { get: () => store as unknown as BlockAdapter },
  cacheDir: join(root, 'cache'),
  cacheSizeBytes: 1_000_000,
  rangeProportion: 0.9,
  metarangeProportion: 0.1,
  memoryCacheBytes: 1_000_000,
  minRangeSize: 0,
  maxRangeSize: 1_000_000,
  raggedness: 1000,
  evict: true,
  worker: process.argv[3] === 'worker',
});
const [, , , where, size] = process.argv;
const count = where === 'worker' ? 5000 : 10;
// What cannot be compressed makes a table that does not come in one piece.
const content = (): string => (size === 'large' ? randomBytes(64).toString('hex') : 'c');
await trees.write(
  context,
  new ArrayIterator(Array.from({ length: count }, (_, i) => toRecord(String(i).padStart(6, '0'), content()))),
);
