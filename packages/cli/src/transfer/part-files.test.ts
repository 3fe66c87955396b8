import { existsSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { PartFiles } from './part-files.ts';

test('files are made, closed and named alike at once and in threads', async () => {
  const folder = tempDir();
  let now = 0;
  // On this disk everything takes a millisecond, so all but the first is left to threads.
  const files = new PartFiles(() => now++);
  for (let n = 0; n < 4; n++) {
    const [part, target] = [join(folder, `part-${n}`), join(folder, `${n}`)];
    const opening = files.open(part);
    expect(opening instanceof Promise).toBe(n > 0);
    const file = await opening;
    writeSync(file, `content ${n}`);
    const closing = files.close(file);
    expect(closing instanceof Promise).toBe(n > 0);
    await closing;
    expect(() => writeSync(file, 'more')).toThrow(/EBADF/);
    await files.complete(part, target);
    expect(existsSync(part)).toBe(false);
    expect(readFileSync(target, 'utf8')).toBe(`content ${n}`);
  }
  await expect(files.open(join(folder, '0'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(files.open(join(folder, 'none', 'file'))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(files.complete(join(folder, 'none'), join(folder, '0'))).rejects.toMatchObject({
    code: 'ENOENT',
  });
  expect(readFileSync(join(folder, '0'), 'utf8')).toBe('content 0');
});
