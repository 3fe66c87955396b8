import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { ObjectStats } from '@svc/client';
import { tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { mergeChanges, undo } from './changes.ts';
import type { FileRules, RemoteEntry } from './entry.ts';
import { findRoot, interruptedMessage, readIndex, writeIndex } from './folder-index.ts';
import { addIgnoreSection, linkOf } from './git.ts';
import { IgnoreRules } from './ignore.ts';
import { diffFolder } from './local-diff.ts';
import { linkedFolders } from './linked-folders.ts';
import { walkFolder } from './walk.ts';

const plain: FileRules = {
  skipNonRegularFiles: false,
  symlinkSupport: false,
  verifyChecksum: true,
  posix: false,
  includeUid: false,
  includeGid: false,
};

function folderWith(files: Record<string, string>): string {
  const root = tempDir();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

function names(root: string, rules: Partial<FileRules> = {}): string[] {
  const walked = walkFolder(root, { ...plain, ...rules }, IgnoreRules.of(root));
  return [...walked].map((entry) => entry.path);
}

describe('walking a folder', () => {
  it('goes in byte order of whole paths, as a repository lists', () => {
    const files = {
      'subdir/x': '',
      'subdir-a/x': '',
      subdir0: '',
      '.hidden': '',
      '\u{1F600}': '',
      '\uFFFD': '',
    };
    const found = names(folderWith(files));
    expect(found).toEqual(found.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    expect(found).toEqual(['.hidden', 'subdir-a/x', 'subdir/x', 'subdir0', '\uFFFD', '\u{1F600}']);
  });

  it('leaves out what never belongs to a repository', () => {
    const files = { a: '', '.DS_Store': '', 'b/.DS_Store': '', '.svc_ref.yaml': '', '.lakefs_ref.yaml': '' };
    expect(names(folderWith(files))).toEqual(['a']);
  });

  it('refuses, skips or keeps symbolic links', () => {
    const root = folderWith({ a: 'x' });
    symlinkSync('a', join(root, 'link'));
    expect(() => names(root)).toThrow('link: not a regular file');
    expect(names(root, { skipNonRegularFiles: true })).toEqual(['a']);
    expect(names(root, { symlinkSupport: true })).toEqual(['a', 'link']);
  });
});

describe('.svcignore', () => {
  const rules = new IgnoreRules(
    [
      '# comment',
      '*.tmp',
      '/top',
      'build/',
      'docs/*.md',
      '!keep.tmp',
      '**/deep/x',
      'a/**/z',
      'q[0-9]?',
      '\\!odd',
      '',
    ].join('\n'),
  );
  it.each([
    ['x.tmp', true],
    ['a/b/x.tmp', true],
    ['keep.tmp', false],
    ['top', true],
    ['a/top', false],
    ['build/x', true],
    ['a/build/x/y', true],
    ['build', false],
    ['docs/a.md', true],
    ['docs/a/b.md', false],
    ['p/deep/x', true],
    ['deep/x', true],
    ['a/z', true],
    ['a/b/c/z', true],
    ['q7b', true],
    ['qxb', false],
    ['!odd', true],
    ['plain', false],
  ])('%s: %s', (path, ignored) => {
    expect(rules.ignores(path)).toBe(ignored);
  });

  it.each([
    ['x**y', 'x/1/y', false],
    ['[[:digit:]]z', '3z', true],
    ['w[!a]v', 'w/v', false],
    ['*.LOG', 'a.log', false],
    ['kept\\ ', 'kept ', true],
    ['bar\n!bar/baz', 'bar/baz', true],
    ['*.tmp', '../x.tmp', true],
    ['*.tmp', '/', false],
  ])('reads %j as git does: %s is %s', (text, path, ignored) => {
    expect(new IgnoreRules(text).ignores(path)).toBe(ignored);
  });

  it('keeps ignored files out of the walk', () => {
    expect(names(folderWith({ '.svcignore': '*.log\n', 'a.log': '', 'b/c.log': '', d: '' }))).toEqual([
      '.svcignore',
      'd',
    ]);
  });
});

function remote(path: string, text: string, more: Partial<ObjectStats> = {}): RemoteEntry {
  const checksum = createHash('md5').update(text).digest('hex');
  const base = {
    path,
    path_type: 'object' as const,
    physical_address: '',
    mtime: 1000,
    size_bytes: text.length,
  };
  return { path, stats: { ...base, checksum, ...more } };
}

async function diff(root: string, entries: RemoteEntry[], rules: Partial<FileRules> = {}): Promise<string[]> {
  const merged = { ...plain, ...rules };
  const listing = (async function* () {
    yield* entries;
  })();
  const found: string[] = [];
  for await (const change of diffFolder(
    root,
    walkFolder(root, merged, IgnoreRules.of(root)),
    listing,
    merged,
  )) {
    found.push(`${change.kind} ${change.path}`);
  }
  return found;
}

describe('comparing a folder with a listing', () => {
  it('finds what was added, removed and changed', async () => {
    const root = folderWith({ a: '1', b: 'changed', c: '3' });
    expect(await diff(root, [remote('b', 'before'), remote('c', '3'), remote('d', '4')])).toEqual([
      'added a',
      'modified b',
      'removed d',
    ]);
  });

  it('takes a touched file with the same content as unchanged', async () => {
    const root = folderWith({ a: '1' });
    utimesSync(join(root, 'a'), 5, 5);
    expect(await diff(root, [remote('a', '1')])).toEqual([]);
    expect(await diff(root, [remote('a', '1')], { verifyChecksum: false })).toEqual(['modified a']);
    expect(await diff(root, [remote('a', '1', { checksum: 'abc-2' })])).toEqual(['modified a']);
    const withOwnTime = remote('a', '1', { checksum: 'abc-2', metadata: { '::lakefs::client-mtime': '5' } });
    expect(await diff(root, [withOwnTime])).toEqual([]);
  });

  it('compares the targets of links', async () => {
    const root = folderWith({});
    symlinkSync('elsewhere', join(root, 'l'));
    const link = (target: string): RemoteEntry =>
      remote('l', '', { metadata: { '::lakefs::symlink-target': target } });
    expect(await diff(root, [link('elsewhere')], { symlinkSupport: true })).toEqual([]);
    expect(await diff(root, [link('other')], { symlinkSupport: true })).toEqual(['modified l']);
  });

  it('compares an object without permissions with the defaults', async () => {
    const root = folderWith({ a: '1' });
    utimesSync(join(root, 'a'), 1000, 1000);
    expect(await diff(root, [remote('a', '1')], { posix: true })).toEqual([]);
    const strict = remote('a', '1', {
      metadata: { '::lakefs::posix-permissions': '{"UID":1,"GID":1,"Mode":33024}' },
    });
    expect(await diff(root, [strict], { posix: true })).toEqual(['modified a']);
  });
});

describe('changes', () => {
  it('of both sides on one path are a conflict', () => {
    const merged = mergeChanges(
      [{ side: 'local', kind: 'modified', path: 'x' }],
      [
        { side: 'remote', kind: 'removed', path: 'x' },
        { side: 'remote', kind: 'added', path: 'a' },
      ],
    );
    expect(merged).toEqual([
      { side: 'remote', kind: 'added', path: 'a' },
      { side: 'local', kind: 'conflict', path: 'x' },
    ]);
  });

  it('are undone by their opposites', () => {
    expect(undo([{ side: 'local', kind: 'added', path: 'a' }])).toMatchObject([
      { side: 'remote', kind: 'removed' },
    ]);
  });
});

describe('the index file', () => {
  const src = { repository: 'repo1', ref: 'main', path: 'a b%/ü/' };

  it('is read back as it was written, from any folder below', () => {
    const start = folderWith({ 'root/x/y/z': '' });
    const root = join(start, 'root');
    writeIndex(root, { src, atHead: 'c0ffee', activeOperation: 'pull' });
    expect(readIndex(root)).toEqual({ src, atHead: 'c0ffee', activeOperation: 'pull' });
    expect(findRoot(join(root, 'x/y'))).toBe(root);
    expect([...linkedFolders(start)]).toEqual([root]);
  });

  it('names the way out of each interrupted operation, and does not crash on an unknown one', () => {
    const message = (activeOperation: string): string =>
      interruptedMessage('/w', { src, atHead: 'c', activeOperation });
    expect(message('pull')).toContain('pull --force');
    expect(message('commit')).toContain('local commit');
    expect(message('clone')).toContain('local checkout');
    expect(message('strange')).toContain('unknown active_operation "strange"');
  });
});

describe('git', () => {
  it('keeps the entries of other folders in the section', () => {
    const once = addIgnoreSection('node_modules\n', ['a/*', '!a/.svc_ref.yaml']);
    const twice = addIgnoreSection(once, ['b/*', '!b/.svc_ref.yaml']);
    expect(twice).toBe(
      'node_modules\n# ignored by svcctl local\na/*\n!a/.svc_ref.yaml\nb/*\n!b/.svc_ref.yaml\n# End ignored by svcctl local\n',
    );
    expect(addIgnoreSection(twice, ['b/*', '!b/.svc_ref.yaml'])).toBe(twice);
  });

  it('ends a section without an end at the next empty line', () => {
    const text = addIgnoreSection('# ignored by svcctl local\na/*\n\nother', ['b/*']);
    expect(text).toBe('# ignored by svcctl local\na/*\nb/*\n# End ignored by svcctl local\n\nother\n');
  });

  it.each([
    ['git@github.com:o/p.git', '::lakefs::github.com::url[url:ui]', 'https://github.com/o/p/commit/abc'],
    [
      'https://gitlab.com/o/p.git',
      '::lakefs::gitlab.com::url[url:ui]',
      'https://gitlab.com/o/p/-/commit/abc',
    ],
  ])('links commits of %s', (origin, key, url) => {
    expect(linkOf(origin, 'abc')).toEqual({ [key]: url });
  });

  it('links nothing else', () => {
    expect(linkOf('git@example.com:o/p.git', 'abc')).toEqual({});
  });
});
