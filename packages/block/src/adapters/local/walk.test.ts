import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { afterAll, describe, expect, it } from 'vitest';
import type { BlockAdapter, WalkedObject } from '../../adapter.ts';
import { openLocalAdapter } from './index.ts';

const outside = tempDir();
const warnings: object[] = [];
const adapter: BlockAdapter = await openLocalAdapter(
  { type: 'local', path: tempDir(), importEnabled: true, allowedExternalPrefixes: [outside] },
  { logger: { debug: () => undefined, warn: (fields) => warnings.push(fields), error: () => undefined } },
);

afterAll(() => adapter.close());

async function walk(
  path: string,
  options: { after?: string; signal?: AbortSignal } = {},
): Promise<WalkedObject[]> {
  const found: WalkedObject[] = [];
  for await (const page of adapter.walk(`local://${path}`, options)) found.push(...page);
  return found;
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

describe('a walk over more files than one page', () => {
  const root = join(outside, 'many');
  const expected: string[] = [];
  for (const folder of ['a', 'a-b', 'a/deep', 'b', 'ä']) {
    mkdirSync(join(root, folder), { recursive: true });
    for (let index = 0; index < 700; index += 1) {
      const name = `${folder}/f${index}`;
      writeFileSync(join(root, name), name);
      expected.push(name);
    }
  }
  linkSync(join(root, 'a/f0'), join(root, 'b/link'));
  expected.push('b/link');
  symlinkSync('/etc/hosts', join(root, 'b/symlink'));
  expected.sort((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y)));

  it('lists every file once, in byte order, with the hash of its content', async () => {
    const found = await walk(`${root}/`);
    expect(found.map((object) => object.relativeKey)).toEqual(expected);
    for (const object of found) {
      expect(object.etag).toBe(md5(object.relativeKey === 'b/link' ? 'a/f0' : object.relativeKey));
    }
  });

  it('goes on after any file', async () => {
    for (const at of [0, 999, 1000, 1001, 2500]) {
      const rest = await walk(`${root}/`, { after: `local://${root}/${expected[at]}` });
      expect(rest.map((object) => object.relativeKey)).toEqual(expected.slice(at + 1));
    }
  });

  it('stops when it is told to, and when nobody reads on', async () => {
    const stop = new AbortController();
    const pages = adapter.walk(`local://${root}/`, { signal: stop.signal });
    await pages.next();
    await pages.next();
    stop.abort(new Error('enough'));
    await expect(pages.next()).rejects.toThrow('enough');
    for await (const page of adapter.walk(`local://${root}/`)) {
      expect(page.length).toBeGreaterThan(0);
      break;
    }
  });

  it.each([0, 1200])(
    'leaves out names that are not UTF-8 and counts them, beside %i files',
    async (files) => {
      const folder = join(outside, `bytes-${files}`);
      const odd = (name: string): Buffer =>
        Buffer.concat([Buffer.from(`${folder}/${name}`), Buffer.from([0xff])]);
      mkdirSync(folder);
      for (let index = 0; index < files; index += 1) writeFileSync(join(folder, `f${index}`), '');
      writeFileSync(odd('a'), '');
      mkdirSync(odd('b'));
      writeFileSync(Buffer.concat([odd('b'), Buffer.from('/inside')]), '');
      writeFileSync(odd('z'), '');
      writeFileSync(join(folder, 'last'), '');
      const before = warnings.length;
      expect(await walk(`${folder}/`)).toHaveLength(files + 1);
      expect(warnings.slice(before)).toEqual([
        { uri: `local://${folder}/`, count: 3, example: `${folder}/z\ufffd` },
      ]);
    },
  );
});

describe('the source of an import', () => {
  mkdirSync(join(outside, 'source'), { recursive: true });
  writeFileSync(join(outside, 'source', 'file'), 'x');
  const source = (path: string) => adapter.importSource(`local://${outside}/${path}`);

  it('is a folder with or without its slash, or the start of names', async () => {
    expect(await source('source')).toBe(`local://${outside}/source/`);
    expect(await source('source/')).toBe(`local://${outside}/source/`);
    expect(await source('source/fi')).toBe(`local://${outside}/source/fi`);
    expect(await source('sou')).toBe(`local://${outside}/sou`);
  });

  it('must exist and be allowed', async () => {
    await expect(source('none/')).rejects.toMatchObject({ kind: 'not_found' });
    await expect(source('none')).rejects.toMatchObject({ kind: 'not_found' });
    await expect(adapter.importSource('local:///etc/')).rejects.toMatchObject({ kind: 'forbidden' });
  });
});
