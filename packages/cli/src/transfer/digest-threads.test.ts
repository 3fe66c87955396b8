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

it('finds the MD5s of many complete files at once, and of one alone', async () => {
  const threads = new DigestThreads();
  const files = Array.from({ length: 30 }, (_, n) => ({ path: written(), size: 1 + n * 100_000 }));
  const found = await Promise.all(files.map(({ path, size }) => threads.openComplete().finish(path, size)));
  expect(found).toEqual(files.map(({ size }) => hash('md5', content.subarray(0, size))));
  expect(await threads.openComplete().finish(written(), content.length)).toBe(hash('md5', content));
});

it('goes on with complete files when one of them is shorter than it was, or gone', async () => {
  const threads = new DigestThreads();
  const path = written();
  const asked = Array.from({ length: 10 }, (_, n) =>
    threads
      .openComplete()
      .finish(n === 3 ? join(path, 'none') : path, n === 5 ? content.length + 1 : content.length),
  );
  const found = await Promise.allSettled(asked);
  const right = { status: 'fulfilled', value: hash('md5', content) };
  expect(found.filter((_, n) => n !== 3 && n !== 5)).toEqual(Array.from({ length: 8 }, () => right));
  await expect(asked[3]).rejects.toThrow(/ENOTDIR|ENOENT/);
  await expect(asked[5]).rejects.toThrow('is shorter than it was');
});

it('waits for other files to be complete, but not for ever', async () => {
  const threads = new DigestThreads();
  const path = written();
  const [never, one] = [threads.openComplete(), threads.openComplete()];
  // A main thread at work.
  for (const end = performance.now() + 100; performance.now() < end;);
  expect(await one.finish(path, content.length)).toBe(hash('md5', content));
  never.drop();
});
