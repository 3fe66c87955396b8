import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import type { BlockAdapter, ObjectPointer, WalkOptions } from '../../adapter.ts';
import type { LocalStoreConfig } from '../../config.ts';
import { describeBlockAdapter } from '../../suite/index.ts';
import { openLocalAdapter } from './local-adapter.ts';

for (const sync of [true, false]) {
  describeBlockAdapter(`local (sync: ${sync})`, async () => {
    const adapter = await openLocalAdapter({ type: 'local', path: tempDir(), sync });
    return { adapter, namespace: 'local://repo/prefix', minPartSize: 1000, close: () => adapter.close() };
  });
}

const at = (identifier: string): ObjectPointer => ({
  storageNamespace: 'local://ns',
  identifier,
  identifierType: 'relative',
});

async function withStore(
  config: Partial<LocalStoreConfig>,
  use: (adapter: BlockAdapter, root: string) => Promise<void>,
): Promise<void> {
  const root = config.path ?? tempDir();
  const adapter = await openLocalAdapter({ type: 'local', ...config, path: root });
  try {
    await use(adapter, root);
  } finally {
    await adapter.close();
  }
}

it('removes a folder that holds nothing, and writes into it again', async () => {
  await withStore({}, async (adapter, root) => {
    const folder = join(root, 'ns', 'data', 'x');
    await adapter.put(at('data/x/a'), Buffer.from('a'), { fresh: true });
    await adapter.removeEmptyFolder?.(at('data/x'));
    await adapter.removeEmptyFolder?.(at('data/x/a'));
    await adapter.removeEmptyFolder?.(at('data/missing'));
    expect(existsSync(join(folder, 'a'))).toBe(true);
    await adapter.delete(at('data/x/a'));
    await adapter.removeEmptyFolder?.(at('data/x'));
    expect([existsSync(folder), existsSync(dirname(folder))]).toEqual([false, true]);
    await adapter.put(at('data/x/b'), Buffer.from('b'), { fresh: true });
    expect(existsSync(join(folder, 'b'))).toBe(true);
  });
});

describe('a finished file as an object', () => {
  it('is linked, not copied, and replaces what was there', async () => {
    await withStore({}, async (adapter, root) => {
      const file = join(root, '..', 'finished');
      writeFileSync(file, 'new');
      await adapter.put(at('x/table'), Buffer.from('old'));
      expect(await adapter.putFile?.(at('x/table'), file)).toBe(true);
      const object = join(root, 'ns', 'x', 'table');
      expect(readFileSync(object, 'utf8')).toBe('new');
      expect(statSync(object).ino).toBe(statSync(file).ino);
      rmSync(file);
      expect(readFileSync(object, 'utf8')).toBe('new');
      expect(leftovers(root)).toEqual([]);
    });
  });

  it('is refused without a trace when it lies on another file system', async (test) => {
    const elsewhere = '/dev/shm';
    await withStore({}, async (adapter, root) => {
      test.skip(
        !existsSync(elsewhere) || statSync(elsewhere).dev === statSync(root).dev,
        'there is no other file system here',
      );
      const file = join(mkdtempSync(join(elsewhere, 'svc-')), 'finished');
      try {
        writeFileSync(file, 'new');
        expect(await adapter.putFile?.(at('x/table'), file)).toBe(false);
        expect(await adapter.exists(at('x/table'))).toBe(false);
        expect(leftovers(root)).toEqual([]);
      } finally {
        rmSync(dirname(file), { recursive: true });
      }
    });
  });

  it('is made from an object, unless that is none, is a link or lies elsewhere', async () => {
    await withStore({}, async (adapter, root) => {
      await adapter.put(at('x/table'), Buffer.from('bytes'));
      const object = join(root, 'ns', 'x', 'table');
      const file = join(tempDir(), 'file');
      expect(await adapter.getFile?.(at('x/table'), file)).toBe(true);
      expect(statSync(file).ino).toBe(statSync(object).ino);
      expect(await adapter.getFile?.(at('x/table'), file)).toBe(false);
      expect(await adapter.getFile?.(at('x/missing'), `${file}-1`)).toBe(false);
      expect(await adapter.getFile?.(at('x'), `${file}-2`)).toBe(false);
      symlinkSync(object, join(root, 'ns', 'x', 'link'));
      expect(await adapter.getFile?.(at('x/link'), `${file}-3`)).toBe(false);
      expect(await adapter.getFile?.(at('x/table'), join(file, 'no folder', 'file'))).toBe(false);
      expect(readdirSync(dirname(file))).toEqual(['file']);
    });
  });

  it('that is not there is an error and leaves nothing', async () => {
    await withStore({}, async (adapter, root) => {
      await expect(adapter.putFile?.(at('x/table'), join(root, 'missing'))).rejects.toThrow();
      expect(await adapter.exists(at('x/table'))).toBe(false);
      expect(leftovers(root)).toEqual([]);
    });
  });
});

/** Files that are not objects yet. */
function leftovers(root: string): string[] {
  return readdirSync(join(root, '.svc-tmp'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
}

describe('an immutable object', () => {
  it('replaces what a dead writer has left unfinished', async () => {
    await withStore({}, async (adapter, root) => {
      const object = join(root, 'ns', 'tables', 'id');
      mkdirSync(dirname(object), { recursive: true });
      writeFileSync(object, 'unfin');
      await adapter.put(at('tables/id'), Buffer.from('finished'), { immutable: true });
      expect(readFileSync(object, 'utf8')).toBe('finished');
      expect(leftovers(root)).toEqual([]);
    });
  });

  it('is written in place when it is new', async () => {
    await withStore({}, async (adapter, root) => {
      const object = join(root, 'ns', 'tables', 'id');
      // Nothing can be created in the folder of unfinished files: only a write that does not need it succeeds.
      rmSync(join(root, '.svc-tmp'), { recursive: true, force: true });
      writeFileSync(join(root, '.svc-tmp'), '');
      await adapter.put(at('tables/id'), Buffer.from('finished'), { immutable: true });
      expect(readFileSync(object, 'utf8')).toBe('finished');
      await expect(adapter.put(at('tables/id'), Buffer.from('other'))).rejects.toThrow();
    });
  });
});

describe('files that are not objects yet', () => {
  it('have a place also after another machine has removed it', async () => {
    await withStore({}, async (adapter, root) => {
      rmSync(join(root, '.svc-tmp'), { recursive: true });
      await adapter.put(at('x'), Buffer.from('bytes'));
      expect(readFileSync(join(root, 'ns', 'x'), 'utf8')).toBe('bytes');
    });
  });

  it('of an upload that cannot be begun are gone', async () => {
    await withStore({}, async (adapter, root) => {
      const uploads = join(root, '.svc-multipart');
      writeFileSync(uploads, '');
      await expect(adapter.createMultipart(at('data/x'))).rejects.toThrow();
      rmSync(uploads);
      await adapter.createMultipart(at('data/x'));
      expect(readdirSync(uploads)).toHaveLength(1);
    });
  });
});

describe('the local store', () => {
  it('describes itself', async () => {
    await withStore({ importEnabled: true, id: 'disk', description: 'a disk' }, async (adapter) => {
      expect(adapter.info).toEqual({
        storageId: 'disk',
        description: 'a disk',
        backwardCompatible: false,
        productionSafe: true,
        namespaceExample: 'local://example-bucket/',
        namespaceValidityRegex: '^local://',
        importValidityRegex: '^local://',
        defaultNamespacePrefix: 'local://',
        preSignSupport: false,
        preSignSupportUi: false,
        preSignMultipartUpload: false,
        importSupport: true,
      });
      expect(await adapter.region('local://ns')).toBeUndefined();
    });
  });

  it('shows absolute paths and writes where it says', async () => {
    await withStore({}, async (adapter, root) => {
      await adapter.put(at('data/p/x'), Buffer.from('x'), { fresh: true });
      expect(adapter.absoluteUri(at('data/p/x'))).toBe(`local://${root}/ns/data/p/x`);
      expect(readFileSync(`${root}/ns/data/p/x`, 'utf8')).toBe('x');
      expect(statSync(`${root}/ns/data`).mode & 0o777).toBe(0o750);
    });
  });

  it('creates its folder for the owner only and says when it cannot', async () => {
    const base = tempDir();
    await withStore({ path: join(base, 'new', 'store') }, async (_, root) => {
      expect(statSync(root).mode & 0o777).toBe(0o700);
    });
    writeFileSync(join(base, 'file'), '');
    await expect(openLocalAdapter({ type: 'local', path: join(base, 'file', 'x') })).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('writable folder') as string,
    });
  });

  it('refuses a taken fresh address and keeps what is there', async () => {
    await withStore({}, async (adapter) => {
      await adapter.put(at('x'), Buffer.from('first'), { fresh: true });
      await expect(adapter.put(at('x'), Buffer.from('second'), { fresh: true })).rejects.toMatchObject({
        kind: 'already_exists',
      });
      expect((await adapter.get(at('x'))).bytes?.toString()).toBe('first');
    });
  });

  it('refuses an object where a folder is, and the reverse', async () => {
    await withStore({}, async (adapter) => {
      await adapter.put(at('a/b'), Buffer.from('x'));
      for (const fresh of [true, false]) {
        const kind = expect.stringMatching(/^(invalid_address|already_exists)$/) as string;
        await expect(adapter.put(at('a'), Buffer.from('x'), { fresh })).rejects.toMatchObject({ kind });
        await expect(adapter.put(at('a/b/c'), Buffer.from('x'), { fresh })).rejects.toMatchObject({ kind });
      }
      await expect(adapter.get(at('a/b/c'))).rejects.toMatchObject({ kind: 'not_found' });
      expect(await adapter.exists(at('a/b'))).toBe(true);
      await expect(adapter.put(at('n'.repeat(300)), Buffer.from('x'))).rejects.toMatchObject({
        kind: 'invalid_address',
      });
    });
  });

  it('writes again after its folders were removed', async () => {
    await withStore({}, async (adapter, root) => {
      for (const fresh of [true, false]) {
        await adapter.put(at('data/p/1'), Buffer.from('x'), { fresh });
        rmSync(join(root, 'ns'), { recursive: true });
        await adapter.put(at('data/p/2'), Buffer.from('x'), { fresh });
        expect(await adapter.exists(at('data/p/2'))).toBe(true);
      }
    });
  });

  it('leaves no temporary files behind', async () => {
    await withStore({}, async (adapter, root) => {
      await adapter.put(at('x'), Buffer.from('x'));
      await adapter.put(at('y'), Buffer.from('x'), { ifAbsent: true });
      await expect(adapter.put(at('y'), Buffer.from('x'), { ifAbsent: true })).rejects.toThrow(
        'already exists',
      );
      await adapter.copy(at('x'), at('z'));
      const [own] = readdirSync(join(root, '.svc-tmp'));
      expect(readdirSync(join(root, '.svc-tmp', own ?? ''))).toEqual([]);
    });
  });

  it('sweeps leftovers of dead processes and none of living ones', async () => {
    const root = tempDir();
    await withStore({ path: root }, async () => {
      const [own = ''] = readdirSync(join(root, '.svc-tmp'));
      const dead = own.replace(/\.\d+\.\d+\.\d+$/, '.999999999.1.0');
      const reused = own.replace(/\.(\d+)\.\d+\.\d+$/, '.$1.1.0');
      const elsewhere = own.replace(/^[0-9a-f]+/, '000000000000');
      for (const name of [dead, reused, elsewhere]) {
        mkdirSync(join(root, '.svc-tmp', name));
        writeFileSync(join(root, '.svc-tmp', name, '0'), 'half');
      }
      await withStore({ path: root }, async () => {
        const left = readdirSync(join(root, '.svc-tmp'));
        expect(left).toContain(own);
        expect(left).toContain(elsewhere);
        expect(left).not.toContain(dead);
        expect(left).not.toContain(reused);
      });
    });
  });

  it('keeps uploads in progress over a restart, outside every namespace', async () => {
    const root = tempDir();
    const pointer = at('data/x');
    let uploadId = '';
    let etags: string[] = [];
    await withStore({ path: root }, async (adapter) => {
      uploadId = await adapter.createMultipart(pointer);
      const parts = await Promise.all(
        ['one', 'two', 'three'].map((text, i) =>
          adapter.uploadPart({ pointer, uploadId }, i + 1, Buffer.from(text)),
        ),
      );
      etags = parts.map((part) => part.etag);
      expect(existsSync(join(root, '.svc-multipart', uploadId))).toBe(true);
      expect(existsSync(join(root, 'ns'))).toBe(false);
    });
    await withStore({ path: root, importHidden: true }, async (adapter) => {
      expect(await keys(adapter, `local://${root}/`)).toEqual([]);
      const completed = await adapter.completeMultipart({ pointer, uploadId }, [
        { partNumber: 1, etag: etags[0] ?? '' },
        { partNumber: 3, etag: etags[2] ?? '' },
      ]);
      // MD5 over the MD5s of "one" and "three".
      const md5s = ['one', 'three'].map((text) => createHash('md5').update(text).digest());
      expect(completed.etag).toBe(`${createHash('md5').update(Buffer.concat(md5s)).digest('hex')}-2`);
      expect((await adapter.get(pointer)).bytes?.toString()).toBe('onethree');
      expect(existsSync(join(root, '.svc-multipart', uploadId))).toBe(false);
      for (const bad of ['../ns', 'x', '', uploadId.toUpperCase()]) {
        await expect(adapter.abortMultipart({ pointer, uploadId: bad })).rejects.toMatchObject({
          kind: 'upload_not_found',
        });
      }
    });
  });
});

describe('walking the local store', () => {
  it('skips dot entries, links and pipes, and sees hidden ones when asked', async () => {
    const base = tempDir();
    for (const folder of ['.git/sub', 'a', 'a.d']) mkdirSync(join(base, folder), { recursive: true });
    for (const file of ['.git/config', '.git/sub/x', '.x', 'a/.y', 'a/z', 'a-b', 'a.d/c']) {
      writeFileSync(join(base, file), file);
    }
    symlinkSync(join(base, 'a'), join(base, 'link'));
    execFileSync('mkfifo', [join(base, 'pipe')]);
    const config = { allowedExternalPrefixes: [base] };
    await withStore(config, async (adapter) => {
      expect(await keys(adapter, `local://${base}/`)).toEqual(['a-b', 'a.d/c', 'a/z']);
      // A pipe is no object, and asking does not hang.
      const pipe = {
        storageNamespace: '',
        identifier: `local://${base}/pipe`,
        identifierType: 'full',
      } as const;
      await expect(adapter.get(pipe)).rejects.toMatchObject({ kind: 'not_found' });
    });
    await withStore({ ...config, importHidden: true }, async (adapter) => {
      expect(await keys(adapter, `local://${base}/`)).toEqual([
        '.git/config',
        '.git/sub/x',
        '.x',
        'a-b',
        'a.d/c',
        'a/.y',
        'a/z',
      ]);
    });
    await withStore({}, async (adapter) => {
      await expect(keys(adapter, `local://${base}/`)).rejects.toMatchObject({ kind: 'forbidden' });
      await expect(keys(adapter, `local://${base}/../`)).rejects.toMatchObject({ kind: 'invalid_address' });
      await expect(keys(adapter, 'local://ns/../../')).rejects.toMatchObject({ kind: 'invalid_address' });
    });
  });

  it('hashes on demand only', async () => {
    await withStore({}, async (adapter, root) => {
      await adapter.put(at('x'), Buffer.alloc(200_000, 'x'));
      const [hashed] = await pages(adapter, `local://${root}/ns/`);
      expect(hashed?.etag).toBe((await adapter.properties(at('x'))).etag);
      const [without] = await pages(adapter, `local://${root}/ns/`, { skipEtag: true });
      expect(without?.etag).toBe('');
    });
  });
});

async function pages(adapter: BlockAdapter, uri: string, options?: WalkOptions) {
  const found = [];
  for await (const page of adapter.walk(uri, options)) found.push(...page);
  return found;
}

async function keys(adapter: BlockAdapter, uri: string): Promise<string[]> {
  return (await pages(adapter, uri)).map((object) => object.relativeKey);
}
