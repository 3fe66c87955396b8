import type { ObjectPage } from '@svc/engine';
import { createMemStore, LocalCacheBus } from '@svc/kv';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { memEngine } from '../../test/mem-engine.ts';
import { objectListJson } from './object-list-json.ts';

/** What the answer must say, the ordinary way. */
function expected(page: ObjectPage, withMetadata: boolean): unknown {
  const results = page.toArray().map((item) =>
    item.kind === 'common_prefix'
      ? { path: item.path, path_type: 'common_prefix', physical_address: '', checksum: '', mtime: 0 }
      : {
          path: item.path,
          path_type: 'object',
          physical_address: item.physicalAddress,
          checksum: item.etag,
          size_bytes: item.size,
          mtime: item.mtime.seconds,
          content_type: item.contentType === '' ? 'application/octet-stream' : item.contentType,
          ...(withMetadata && Object.keys(item.metadata).length > 0 && { metadata: { ...item.metadata } }),
        },
  );
  return {
    pagination: {
      has_more: page.hasMore,
      next_offset: page.nextOffset,
      results: results.length,
      max_per_page: 1000,
    },
    results,
  };
}

function said(page: ObjectPage, withMetadata: boolean): unknown {
  return JSON.parse(objectListJson(page, withMetadata, undefined).body.toString());
}

test('a page holds what its items say, whatever their addresses look like', async () => {
  const engine = await memEngine(createMemStore(), new LocalCacheBus());
  const actor = { committer: 'tester' };
  await engine.repositories.create({ name: 'pages', storageNamespace: 'mem://pages', actor });
  const addresses = [
    'mem://a/one/x',
    'mem://a/one/y',
    'mem://a/one/.hidden',
    'mem://a/one/sp ace',
    'mem://a/two/x',
    'mem://a/quo"te/x',
    'mem://a/quo"te/y',
    'mem://a/é/x',
    'mem://a/é/y',
    'mem://a/one/',
    'mem://a/one/x',
  ];
  for (const [index, physicalAddress] of addresses.entries()) {
    await engine.objects.stage({
      repository: 'pages',
      branch: 'main',
      path: `dir${index % 2}/key ${index} "ü"`,
      physicalAddress,
      checksum: `sum-${index}"`,
      size: index,
      metadata: index === 3 ? { 'k"': 'v\n' } : {},
      contentType: index === 4 ? '' : 'text/plain',
    });
  }
  for (const delimiter of [undefined, '/']) {
    const page = await engine.objects.list({ repository: 'pages', ref: 'main', delimiter, amount: 7 });
    expect(said(page, true)).toEqual(expected(page, true));
  }
  await engine.close();
});

test('odd bytes at every place around sixteen bytes, and folders within folders', async () => {
  const engine = await memEngine(createMemStore(), new LocalCacheBus());
  await engine.repositories.create({
    name: 'odd',
    storageNamespace: 'mem://odd',
    actor: { committer: 'tester' },
  });
  const stage = (path: string, physicalAddress: string, checksum: string) =>
    engine.objects.stage({ repository: 'odd', branch: 'main', path, physicalAddress, checksum, size: 1 });
  const odd = ['"', '\\', '\u0001', '\u001f'];
  for (let length = 1; length < 36; length += 1) {
    for (const [index, byte] of odd.entries()) {
      const text = (at: number): string => 'x'.repeat(at) + byte + 'x'.repeat(length - at - 1);
      const start = `${String(length).padStart(2, '0')}-${index}`;
      await stage(`${start}-a`, 'mem://elsewhere/one/name', 'plain');
      await stage(`${start}-b${text(0)}`, 'mem://elsewhere/one/name', 'plain');
      await stage(`${start}-c${text(length - 1)}`, 'mem://elsewhere/one/name', 'plain');
      await stage(`${start}-d`, 'mem://elsewhere/one/name', text(0));
      await stage(`${start}-e`, 'mem://elsewhere/one/name', text(length - 1));
      await stage(`${start}-f`, 'mem://elsewhere/one/name', 'x'.repeat(length));
    }
  }
  const deep = 'mem://elsewhere/one/two/three/four/five';
  for (const [index, address] of [
    `${deep}/x`,
    'mem://elsewhere/one/two/x',
    `${deep}/x`,
    `${deep}/y/x`,
    `${deep}/y`,
    'mem://elsewhere/one/two/three/four/fife/x',
  ].entries())
    await stage(`z${index}`, address, 'plain');
  for (let after = '', more = true; more;) {
    const page = await engine.objects.list({ repository: 'odd', ref: 'main', after });
    expect(said(page, true)).toEqual(expected(page, true));
    after = page.nextOffset;
    more = page.hasMore;
  }
  await engine.close();
});

test('pages of any objects, with texts that end everywhere around sixteen bytes', async () => {
  const engine = await memEngine(createMemStore(), new LocalCacheBus());
  const actor = { committer: 'tester' };
  const unit = fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom('a', '0', '-', '/', '.', '~', ' ') },
    fc.constantFrom('é', '日', '😀', '"', '\\', '\u0001', '\u001f', '\n', '\u007f', '\u0080'),
  );
  const text = fc.string({ unit, minLength: 1, maxLength: 40 });
  const object = fc.record({
    path: text.filter((path) => !path.startsWith('/')),
    folder: fc.constantFrom('one', 'one', 'one', 'two', 'a much longer folder than sixteen bytes', 'é', 'q"'),
    name: fc.oneof(
      { weight: 4, arbitrary: fc.stringMatching(/^[\w,=-][\w.,=-]{0,40}$/) },
      text.filter((name) => !name.includes('..') && !/\p{Cc}/u.test(name)),
    ),
    checksum: fc.oneof(fc.stringMatching(/^[0-9a-f]{32}$/), text),
    size: fc.oneof(fc.nat(), fc.constantFrom(0, 9, 10, 2 ** 32, Number.MAX_SAFE_INTEGER)),
    mtime: fc.constantFrom(0, 1, 1_700_000_000, 253_402_300_799),
    contentType: fc.constantFrom('', 'text/plain', 'a/"b"', 'application/octet-stream'),
    metadata: fc.constantFrom({}, {}, {}, { key: 'value "' }),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(object, { maxLength: 40 }), fc.boolean(), async (objects, withMetadata) => {
      const repository = `pages-${(run += 1)}`;
      await engine.repositories.create({ name: repository, storageNamespace: `mem://${repository}`, actor });
      for (const { folder, name, ...fields } of objects)
        await engine.objects.stage({
          ...fields,
          repository,
          branch: 'main',
          physicalAddress: `mem://elsewhere/${folder}/${name}`,
        });
      for (const delimiter of [undefined, '/']) {
        const page = await engine.objects.list({ repository, ref: 'main', delimiter });
        expect(said(page, withMetadata)).toEqual(expected(page, withMetadata));
      }
    }),
    { numRuns: 60 },
  );
  await engine.close();
}, 60_000);

test('a page with much that is not listed', async () => {
  const engine = await memEngine(createMemStore(), new LocalCacheBus());
  const where = { repository: 'large', branch: 'main' };
  await engine.repositories.create({
    name: 'large',
    storageNamespace: 'mem://large',
    actor: { committer: 'tester' },
  });
  for (let index = 0; index < 300; index += 1)
    await engine.objects.stage({
      ...where,
      path: `p${index}`,
      physicalAddress: `mem://elsewhere/x/${index}`,
      checksum: 'sum',
      size: index,
      metadata: { long: 'x'.repeat(8000) },
    });
  const page = await engine.objects.list({ repository: 'large', ref: 'main' });
  for (const withMetadata of [true, false])
    expect(said(page, withMetadata)).toEqual(expected(page, withMetadata));
  await engine.close();
});
