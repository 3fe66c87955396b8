import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ObjectPointer } from '../../adapter.ts';
import { BlockError } from '../../errors.ts';
import { openLocalAdapter } from './local-adapter.ts';
import { LocalPaths } from './paths.ts';

let base: string;
let root: string;

beforeEach(() => {
  base = tempDir();
  root = join(base, 'root');
  mkdirSync(root);
});

const relative = (storageNamespace: string, identifier: string): ObjectPointer => ({
  storageNamespace,
  identifier,
  identifierType: 'relative',
});
const full = (identifier: string): ObjectPointer => ({
  storageNamespace: 'local://ns',
  identifier,
  identifierType: 'full',
});

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof BlockError) return `${error.kind}: ${error.message}`;
    throw error;
  }
  return 'allowed';
}

describe('relative addresses', () => {
  it('name files below the namespace', () => {
    const paths = new LocalPaths(root, []);
    const file = (namespace: string, key: string): string => paths.locate(relative(namespace, key));
    expect(file('local://ns', 'a/b')).toBe(`${root}/ns/a/b`);
    expect(file('local://ns/', '/a//b/')).toBe(`${root}/ns/a/b`);
    expect(file('local://ns/deep/er', 'a/../b')).toBe(`${root}/ns/deep/er/b`);
    expect(file('local://ns', '%2e%2e/x')).toBe(`${root}/ns/%2e%2e/x`);
  });

  it('never leave it', () => {
    const paths = new LocalPaths(root, []);
    const tries: [string, string][] = [
      ['local://../x', 'a'],
      ['local://..', 'a'],
      ['local://.', 'a'],
      ['local://ns/../..', 'a'],
      ['local://ns/..', 'a'],
      ['local://ns', '../../etc/passwd'],
      ['local://ns', '..'],
      ['local://ns', 'a/../../other/secret'],
      ['local://ns', '../ns2/x'],
      ['local://ns', '/../x'],
    ];
    for (const [namespace, key] of tries) {
      expect(
        refusal(() => paths.locate(relative(namespace, key))),
        `${namespace} ${key}`,
      ).toMatch(/^invalid_(address|namespace): bad path traversal blocked/);
    }
  });

  it('refuse NUL bytes and our own folders', () => {
    const paths = new LocalPaths(root, []);
    expect(refusal(() => paths.locate(relative('local://ns', 'a\0b')))).toMatch(/^invalid_address: .*NUL/);
    expect(refusal(() => paths.locate(relative('local://n\0s', 'a')))).toMatch(/^invalid_namespace: .*NUL/);
    expect(refusal(() => paths.locate(full(`local://${root}/a\0b`)))).toMatch(/^invalid_address: .*NUL/);
    for (const name of ['.svc-multipart', '.svc-tmp', '.SVC-Multipart']) {
      expect(refusal(() => paths.locate(relative(`local://${name}`, 'a')))).toMatch(/^forbidden/);
      expect(refusal(() => paths.locate(relative(`local://x/../${name}/y`, 'a')))).toMatch(/^forbidden/);
      expect(refusal(() => paths.locate(full(`local://${root}/${name}/a`)))).toMatch(/^forbidden/);
      expect(refusal(() => paths.locateWalk(`local://${root}/${name}/`))).toMatch(/^forbidden/);
    }
  });
});

describe('full addresses', () => {
  it('must be absolute, clean and in an allowed place', () => {
    const paths = new LocalPaths(root, ['/mnt/a', `${base}/ext/`]);
    const of = (uri: string): string => refusal(() => paths.locate(full(uri)));
    expect(paths.locate(full(`local://${root}/ns/x`))).toBe(`${root}/ns/x`);
    expect(of('local:///mnt/a/f')).toBe('allowed');
    expect(of(`local://${base}/ext/f`)).toBe('allowed');
    expect(of('local:///mnt/ab/f')).toMatch(/^forbidden/);
    expect(of(`local://${root}x/f`)).toMatch(/^forbidden/);
    expect(of(`local://${root}`)).toMatch(/^forbidden/);
    expect(of('local:///etc/passwd')).toMatch(/^forbidden/);
    for (const bad of ['/mnt/a/../b', '/mnt/a//b', '/mnt/a/b/', '/mnt/a/./b', '/', '']) {
      expect(of(`local://${bad}`), bad).toMatch(/^invalid_address: bad path/);
    }
    expect(of('local://ns/x')).toMatch(/^invalid_address: bad path/);
    expect(refusal(() => new LocalPaths(root, []).locate(full('local:///mnt/a/f')))).toMatch(/^forbidden/);
    expect(refusal(() => new LocalPaths(root, ['relative/path']))).toMatch(/^configuration/);
    expect(refusal(() => new LocalPaths(root, ['/a/../b']))).toMatch(/^configuration/);
  });
});

describe('symbolic links', () => {
  it('that lead outside are refused, whole or in part', async () => {
    const outside = join(base, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret'), 'secret');
    mkdirSync(join(root, 'ns'));
    symlinkSync(outside, join(root, 'ns', 'folder'));
    symlinkSync(join(outside, 'secret'), join(root, 'ns', 'file'));
    symlinkSync(outside, join(root, 'linked-ns'));
    symlinkSync(join(outside, 'absent'), join(root, 'ns', 'dangling'));
    const adapter = await openLocalAdapter({ type: 'local', path: root });
    const forbidden = { kind: 'forbidden' };
    for (const pointer of [
      relative('local://ns', 'folder/secret'),
      relative('local://ns', 'file'),
      relative('local://linked-ns', 'secret'),
      relative('local://ns', 'dangling/x'),
      full(`local://${root}/ns/folder/secret`),
      full(`local://${root}/ns/file`),
    ]) {
      await expect(adapter.get(pointer), pointer.identifier).rejects.toMatchObject(forbidden);
      await expect(adapter.properties(pointer)).rejects.toMatchObject(forbidden);
    }
    for (const pointer of [
      relative('local://ns', 'folder/new'),
      relative('local://linked-ns', 'new'),
      relative('local://linked-ns/deep', 'new'),
      relative('local://ns', 'dangling/new'),
    ]) {
      await expect(adapter.put(pointer, Buffer.from('x'))).rejects.toMatchObject(forbidden);
      await expect(adapter.put(pointer, Buffer.from('x'), { fresh: true })).rejects.toMatchObject(forbidden);
      await expect(adapter.delete(pointer)).rejects.toMatchObject(forbidden);
    }
    expect(() => adapter.validateNamespace('local://linked-ns')).toThrow(BlockError);
    expect(refusal(() => adapter.validateAddress(relative('local://ns', 'folder/x')))).toMatch(/^forbidden/);
    // Replacing a link replaces the link, never what it points to.
    await adapter.put(relative('local://ns', 'file'), Buffer.from('ours'));
    const body = await adapter.get(relative('local://ns', 'file'));
    expect(body.bytes?.toString()).toBe('ours');
    await adapter.close();
  });

  it('that stay inside are followed', async () => {
    mkdirSync(join(root, 'ns', 'real'), { recursive: true });
    writeFileSync(join(root, 'ns', 'real', 'x'), 'inside');
    symlinkSync(join(root, 'ns', 'real'), join(root, 'ns', 'alias'));
    symlinkSync('real/x', join(root, 'ns', 'short'));
    const adapter = await openLocalAdapter({ type: 'local', path: root });
    expect((await adapter.get(relative('local://ns', 'alias/x'))).bytes?.toString()).toBe('inside');
    expect((await adapter.get(relative('local://ns', 'short'))).bytes?.toString()).toBe('inside');
    expect(await adapter.canonicalUri('local://ns/alias')).toBe(
      await adapter.canonicalUri('local://ns/real/'),
    );
    await adapter.close();
  });

  it('of an allowed external prefix itself are resolved', async () => {
    mkdirSync(join(base, 'data'));
    writeFileSync(join(base, 'data', 'x'), 'external');
    symlinkSync(join(base, 'data'), join(base, 'ext'));
    const adapter = await openLocalAdapter({
      type: 'local',
      path: root,
      allowedExternalPrefixes: [join(base, 'ext')],
    });
    const pointer = full(`local://${base}/ext/x`);
    expect((await adapter.get(pointer)).bytes?.toString()).toBe('external');
    await expect(adapter.put(pointer, Buffer.from('x'))).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(adapter.delete(pointer)).rejects.toMatchObject({ kind: 'forbidden' });
    await adapter.close();
  });
});
