import { expect, test } from 'vitest';
import { createMemStore, LocalCacheBus } from '@svc/kv';
import { memEngine } from '../../test/mem-engine.ts';
import { objectListJson } from './object-list-json.ts';

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
    const items = page.toArray().map((item) =>
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
            ...(Object.keys(item.metadata).length > 0 && { metadata: { ...item.metadata } }),
          },
    );
    expect(JSON.parse(objectListJson(page, true, undefined).toString())).toEqual({
      pagination: {
        has_more: page.hasMore,
        next_offset: page.nextOffset,
        results: items.length,
        max_per_page: 1000,
      },
      results: items,
    });
  }
  await engine.close();
});
