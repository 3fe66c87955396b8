import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { tempDir } from '@svc/testing';
import { describe, expect, test } from 'vitest';
import type { BodySource } from '../../adapter.ts';
import { writeNewFile } from './write-file.ts';

const text = 'some bytes';
const bodies: readonly (readonly [string, () => BodySource])[] = [
  ['bytes', () => Buffer.from(text)],
  ['more bytes than are written on the event loop', () => Buffer.alloc(100_000, text)],
  ['a stream', () => ({ size: text.length, stream: Readable.from([Buffer.from(text)]) })],
];

describe.each(bodies)('a new file from %s', (_name, body) => {
  test('is not done before its entry is synced', async () => {
    const path = join(tempDir(), 'new');
    const entry = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    let written = false;
    const writing = writeNewFile(path, body(), {
      sync: true,
      beside: () => {
        began.resolve();
        return entry.promise;
      },
    }).then(() => {
      written = true;
    });
    await began.promise;
    expect(readFileSync(path, 'utf8')).toContain(text);
    await new Promise((resolve) => {
      setTimeout(resolve, 30);
    });
    expect(written).toBe(false);
    entry.resolve();
    await writing;
  });

  test('is gone again when its entry cannot be synced', async () => {
    const path = join(tempDir(), 'new');
    const failing = writeNewFile(path, body(), {
      sync: true,
      beside: () => Promise.reject(new Error('no folder')),
    });
    await expect(failing).rejects.toThrow('no folder');
    expect(existsSync(path)).toBe(false);
  });

  test('stays, empty, when it is to be left', async () => {
    const path = join(tempDir(), 'new');
    const failing = writeNewFile(path, body(), {
      sync: true,
      beside: () => Promise.reject(new Error('no folder')),
      leaveUnfinished: true,
    });
    await expect(failing).rejects.toThrow('no folder');
    expect(readFileSync(path)).toHaveLength(0);
  });

  test('takes nothing from another of its name when it is to be left', async () => {
    const path = join(tempDir(), 'new');
    const failing = writeNewFile(path, body(), {
      sync: true,
      beside: () => {
        // As a writer does that found an unfinished file there.
        writeFileSync(`${path}-whole`, 'whole');
        renameSync(`${path}-whole`, path);
        return Promise.reject(new Error('no folder'));
      },
      leaveUnfinished: true,
    });
    await expect(failing).rejects.toThrow('no folder');
    expect(readFileSync(path, 'utf8')).toBe('whole');
  });

  test('never replaces a file that is there', async () => {
    const path = join(tempDir(), 'new');
    await writeNewFile(path, Buffer.from('first'), { sync: true });
    await expect(writeNewFile(path, body(), { sync: true })).rejects.toThrow('EEXIST');
    expect(readFileSync(path, 'utf8')).toBe('first');
  });
});
