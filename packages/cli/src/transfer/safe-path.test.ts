import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { SafeFolder } from './safe-path.ts';

describe('SafeFolder', () => {
  it.each(['../evil', 'a/../../evil', '/etc/passwd', 'a//b', './a', 'a/..', '', 'a\0b'])(
    'refuses the key %j',
    (key) => {
      expect(() => new SafeFolder('/w/data').pathOf(key)).toThrow('refused to write');
    },
  );

  it('refuses a neighbour whose name begins like the root', () => {
    expect(() => new SafeFolder('/w/data').pathOf('../data-x/f')).toThrow('refused to write');
  });

  it('keeps odd but harmless names', () => {
    expect(new SafeFolder('/w').pathOf('a b/..c/ü')).toBe('/w/a b/..c/ü');
  });

  it('makes folders but goes through no link', async () => {
    const outside = tempDir();
    const folder = new SafeFolder(join(tempDir(), 'root'));
    expect(folder.prepare('a/b/c')).toBe(join(folder.root, 'a/b/c'));
    symlinkSync(outside, join(folder.root, 'link'));
    expect(() => folder.prepare('link/x')).toThrow('symbolic link');
    expect(() => folder.locate('link/x')).toThrow('symbolic link');
  });

  it('tells when a file stands where a folder must be', async () => {
    const root = tempDir();
    mkdirSync(root, { recursive: true });
    writeFileSync(join(root, 'a'), '');
    expect(() => new SafeFolder(root).prepare('a/b')).toThrow('is a file');
  });
});
