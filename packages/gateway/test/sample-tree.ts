import { createCipheriv, hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Names a file system can hold and an S3 client may get wrong. */
export const oddNames = [
  'plain.txt',
  'with space.txt',
  'plus+sign.txt',
  'per%cent%20.txt',
  'uni-é-蒙-😀.txt',
  'a/b/c/deep.txt',
  'a/b/second.txt',
  "quote's.txt",
  'amp&=;,#.txt',
  'tilde~!().txt',
  `long/${'k'.repeat(200)}/${'l'.repeat(200)}/${'m'.repeat(200)}/${'n'.repeat(200)}`,
];

/** Bytes that do not compress and are the same in every run. */
export function pseudoRandom(length: number, seed: string): Buffer {
  const key = hash('sha256', seed, 'buffer');
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length));
}

export function writeTree(folder: string): void {
  for (const name of oddNames) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, pseudoRandom(10_000 + name.length, name));
  }
}

/** Digest of every file below a folder by relative name. */
export function digestTree(folder: string): Record<string, string> {
  const digests: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    digests[relative(folder, path)] = hash('sha256', readFileSync(path));
  }
  return digests;
}
