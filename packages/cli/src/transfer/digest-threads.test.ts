import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { expect, it } from 'vitest';
import { DigestThreads } from './digest-threads.ts';

const content = Buffer.alloc(3 * 1024 * 1024 + 1, 'content');

function written(): string {
  const path = join(tempDir(), 'file');
  writeFileSync(path, content);
  return path;
}

it('finds the MD5 of a file that grows, beside others', async () => {
  const threads = new DigestThreads();
  const [path, other] = [written(), written()];
  const [growing, whole] = [threads.open(path), threads.open(other)];
  growing.wrote(2 * 1024 * 1024);
  const found = await Promise.all([whole.finish(1000), growing.finish(content.length)]);
  expect(found).toEqual([hash('md5', content.subarray(0, 1000)), hash('md5', content)]);
});

it('says that a file is shorter than it was, or gone, and goes on with others', async () => {
  const threads = new DigestThreads();
  const path = written();
  await expect(threads.open(path).finish(content.length + 1)).rejects.toThrow('is shorter than it was');
  await expect(threads.open(join(path, 'none')).finish(1)).rejects.toThrow(/ENOTDIR|ENOENT/);
  const dropped = threads.open(path);
  dropped.wrote(2 * 1024 * 1024);
  dropped.drop();
  expect(await threads.open(path).finish(content.length)).toBe(hash('md5', content));
});
