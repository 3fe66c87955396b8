import { createHash } from 'node:crypto';
import { decodeValue, encodeEntry, entryIdentity, rangeMessage, type Entry } from '@svc/encoding';
import { tempDir } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMetaRange } from '../format/meta-range.ts';
import { ArrayIterator, context, openTestTrees, type TestTrees } from './tree-fixture.ts';
import type { TreeRecord } from '../tree.ts';
import { MemorySource, TableReader } from '@svc/sstable';

const defaults = { minRangeSize: 0, maxRangeSize: 20_971_520, raggedness: 50_000 };

let opened: TestTrees;
beforeAll(async () => {
  opened = await openTestTrees(tempDir(), defaults);
});
afterAll(() => opened.trees.close());

function record(key: string, entry: Entry): TreeRecord {
  return { key: Buffer.from(key), identity: entryIdentity(entry), data: encodeEntry(entry) };
}

async function stored(id: string): Promise<Buffer> {
  const body = await opened.adapter.get({
    storageNamespace: context.storageNamespace,
    identifier: `_svc/${id}`,
    identifierType: 'relative',
  });
  if (body.bytes !== undefined) return body.bytes;
  return Buffer.concat((await body.stream().toArray()) as Buffer[]);
}

interface StoredRange {
  readonly id: string;
  readonly minKey: Buffer;
  readonly maxKey: Buffer;
  readonly count: number;
  readonly estimatedSize: number;
}

async function rangesOf(metaRangeId: string): Promise<StoredRange[]> {
  const meta = readMetaRange(new TableReader(new MemorySource(await stored(metaRangeId))).scan());
  return Array.from({ length: meta.count }, (_, i) => {
    const { identity, data } = decodeValue(meta.record(i).value);
    const range = { ...rangeMessage.decode(data), id: identity.toString('latin1') };
    expect([meta.id(i), meta.minKey(i), meta.maxKey(i), meta.recordCount(i)]).toEqual([
      range.id,
      range.minKey,
      range.maxKey,
      range.count,
    ]);
    return range;
  });
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('worked examples of the format', () => {
  test('two records', async () => {
    const one = record('a/one.txt', {
      address: 'data/gk3f7ctl8q3s73frlr8g/d2a4f1tl8q3s73frlr80',
      lastModified: { seconds: 1700000000, nanos: 0 },
      size: 5,
      etag: '5d41402abc4b2a76b9719d911017c592',
      metadata: {},
      addressType: 1,
      contentType: 'text/plain',
    });
    const two = record('b/two.bin', {
      address: 's3://ext-bucket/b/two.bin',
      lastModified: { seconds: 1700000001, nanos: 500_000_000 },
      size: 1048576,
      etag: 'b6d81b360a5672d80c27430f39153e2c',
      metadata: { a: '1', b: '2' },
      addressType: 2,
      contentType: '',
    });
    const { metaRangeId, count } = await opened.trees.write(context, new ArrayIterator([one, two]));
    expect([count, metaRangeId]).toEqual([
      2,
      'aadb45d2ebce5837592b19199b16e078f8ae92b1d10b870b76856a579cc7aa09',
    ]);
    const [range] = await rangesOf(metaRangeId);
    expect(range?.id).toBe('8c91da2a000c8f80295c6015e8db0a32400092394b8a54c8a91045a48099118f');
    expect(range?.estimatedSize).toBe(327);
    expect(sha256(await stored(metaRangeId))).toBe(
      '2f56b4e4852a449ed14a2f8b024f9d078f690344f6c7f0b4b3b581f062871f9d',
    );
    expect(sha256(await stored(range!.id))).toBe(
      'a642a2df9191e91b82063bdfc9479e4b3de50ff1eb46fc3714fac7bfc2c5cebc',
    );
  });

  const split = (i: number, etag?: string): TreeRecord => {
    const key = `k${String(i).padStart(6, '0')}`;
    return record(key, {
      address: `data/p/${key}`,
      lastModified: { seconds: 1700000000, nanos: 0 },
      size: i,
      etag: etag ?? key,
      metadata: {},
      addressType: 1,
      contentType: 'application/octet-stream',
    });
  };

  test('40 000 records split where the hash of a key says, and one change rewrites one range', async () => {
    const records = Array.from({ length: 40_000 }, (_, i) => split(i));
    const { metaRangeId } = await opened.trees.write(context, new ArrayIterator(records));
    expect(metaRangeId).toBe('996608a16526cc6d71817ee3ef249ea01e473d81f1eec27c2331b368f740f8d2');
    const before = await rangesOf(metaRangeId);
    expect(
      before.map((range) => [range.maxKey.toString(), range.count, range.estimatedSize, range.id]),
    ).toEqual([
      ['k013129', 13130, 682224, '176f796b8cee88f99434d98a0721b8b8adad3b63a6d54d3c6418d4d708566bba'],
      ['k039024', 25895, 1337312, '91dce613a1ec06ee7f1837276a6f007329916d340cc4b6e15fbbdc0f902932d7'],
      ['k039999', 975, 51240, '717210fb3abd6d84e4eb45617776ed30355e31560b3dcc30f97bdf510688eafb'],
    ]);
    expect((await stored(before[1]!.id)).length).toBe(1345724);

    const applied = await opened.trees.apply(
      context,
      metaRangeId,
      new ArrayIterator([split(20_000, 'changed')]),
    );
    expect(applied).toEqual({
      metaRangeId: 'ab8f4fe01e3fbb1a872fec91ec58a8b74485164153334bc35d09dd2091b26b25',
      added: 0,
      removed: 0,
      changed: 1,
    });
    const after = await rangesOf(applied.metaRangeId);
    expect([after[0]?.id, after[2]?.id]).toEqual([before[0]?.id, before[2]?.id]);
    expect([after[1]?.id, after[1]?.estimatedSize]).toEqual([
      '5ed36983af95f554f4421d5d95a8a676d1a490984f7c61cfb55b81846339327a',
      1337322,
    ]);
  });

  test('a key whose hash fires ends no range below the minimum size', async () => {
    const { trees } = await openTestTrees(tempDir(), {
      ...defaults,
      minRangeSize: 10_000_000,
      adapter: opened.adapter,
    });
    const records = Array.from({ length: 14_000 }, (_, i) => split(i));
    const { metaRangeId } = await trees.write(context, new ArrayIterator(records));
    expect((await rangesOf(metaRangeId)).map((range) => range.count)).toEqual([14_000]);
    await trees.close();
  });

  test('the empty tree', async () => {
    const { metaRangeId } = await opened.trees.write(context, new ArrayIterator([]));
    expect(metaRangeId).toBe('00fb7eff1a97c500eb3ca8d2ef5464131d6b6a5f9512e41eba97843522213b66');
    expect(await stored(metaRangeId)).toHaveLength(887);
    for (const id of [metaRangeId, '']) {
      const records = opened.trees.iterate(context, id);
      expect(await records.next()).toBe(false);
      expect(await opened.trees.get(context, id, Buffer.from('a'))).toBeUndefined();
    }
  });

  test('equal content at another address keeps the base record and is no change', async () => {
    const { metaRangeId } = await opened.trees.write(context, new ArrayIterator([split(1), split(2)]));
    const moved = { ...split(1), data: Buffer.from('elsewhere') };
    const applied = await opened.trees.apply(context, metaRangeId, new ArrayIterator([moved]));
    expect(applied).toEqual({ metaRangeId, added: 0, removed: 0, changed: 0 });
    const both = await opened.trees.apply(context, metaRangeId, new ArrayIterator([moved, split(3)]));
    expect((await opened.trees.get(context, both.metaRangeId, split(1).key))?.data).toEqual(split(1).data);
  });

  test('entry bytes are copied as they are', async () => {
    const odd = { ...split(1), data: Buffer.from('2a060a01621201322a060a0161120131', 'hex') };
    const { metaRangeId } = await opened.trees.write(context, new ArrayIterator([odd]));
    const applied = await opened.trees.apply(context, metaRangeId, new ArrayIterator([split(2)]));
    expect((await opened.trees.get(context, applied.metaRangeId, odd.key))?.data).toEqual(odd.data);
  });
});
