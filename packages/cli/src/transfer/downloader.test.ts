import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeServer, type Reply, type Seen } from '../../test/fake-server.ts';
import { Downloader } from './downloader.ts';

let server: FakeServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

const content = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7) % 251));
const checksum = createHash('md5').update(content).digest('hex');
const partSize = 65_536;

function date(offsetSeconds: number): string {
  return new Date(Date.now() + offsetSeconds * 1000).toISOString().replaceAll(/[-:]|\.\d+/g, '');
}

/** Serves the object, by ranges too; a test replaces single answers. */
async function objectServer(
  override: (seen: Seen, base: string) => Reply | undefined = () => undefined,
): Promise<FakeServer> {
  let base = '';
  server = await FakeServer.start((seen) => {
    const other = override(seen, base);
    if (other !== undefined) return other;
    if (seen.path.endsWith('/objects/stat')) {
      const url = `${base}/store/k?X-Amz-Date=${date(0)}&X-Amz-Expires=900`;
      return {
        status: 200,
        body: { path: 'k', size_bytes: content.length, checksum, physical_address: url },
      };
    }
    const range = /^bytes=(\d+)-(\d*)$/.exec(seen.headers.range ?? '');
    if (range === null) return { status: 200, body: content, headers: { etag: `"${checksum}"` } };
    const end = range[2] === '' ? content.length : Number(range[2]) + 1;
    return { status: 206, body: content.subarray(Number(range[1]), end), headers: { etag: `"${checksum}"` } };
  });
  base = server.url;
  return server;
}

function downloader(presign: boolean, verifyChecksum = true): Downloader {
  const transport = server!.transport();
  return new Downloader({ transport, repository: 'repo', ref: 'main', presign, partSize, verifyChecksum });
}

function target(): { folder: string; target: string } {
  const folder = tempDir();
  return { folder, target: join(folder, 'file') };
}

describe('download', () => {
  it('goes on where a connection broke', async () => {
    const { seen } = await objectServer((one) =>
      one.headers.range === undefined
        ? { status: 200, body: content, headers: { etag: `"${checksum}"` }, cutAfter: 50_000 }
        : undefined,
    );
    const place = target();
    await downloader(false).download({ path: 'k', target: place.target });
    expect(readFileSync(place.target).equals(content)).toBe(true);
    expect(seen[1]?.headers.range).toMatch(/^bytes=\d+-$/);
  });

  it('fetches a large object in ranges straight from the store', async () => {
    const { seen } = await objectServer();
    const place = target();
    await downloader(true).download({ path: 'k', target: place.target });
    expect(readFileSync(place.target).equals(content)).toBe(true);
    const ranges = seen.filter((one) => one.path === '/store/k');
    expect(ranges).toHaveLength(4);
    expect(ranges.every((one) => one.headers.authorization === undefined)).toBe(true);
  });

  it('gets a new URL when the store says 403', async () => {
    let refused = 0;
    const { seen } = await objectServer((one) => {
      if (one.path !== '/store/k' || refused >= 2) return undefined;
      refused += 1;
      return { status: 403 };
    });
    const place = target();
    await downloader(true).download({ path: 'k', target: place.target });
    expect(readFileSync(place.target).equals(content)).toBe(true);
    expect(seen.filter((one) => one.path.endsWith('/stat')).length).toBeGreaterThan(2);
  });

  it('gets a new URL before the old one ends', async () => {
    let asked = 0;
    const { seen } = await objectServer((one, base) => {
      if (!one.path.endsWith('/objects/stat')) return undefined;
      asked += 1;
      const url = `${base}/store/k?X-Amz-Date=${date(0)}&X-Amz-Expires=${asked <= 2 ? 5 : 900}&n=${asked}`;
      return {
        status: 200,
        body: { path: 'k', size_bytes: content.length, checksum, physical_address: url },
      };
    });
    const place = target();
    await downloader(true).download({ path: 'k', target: place.target });
    expect(
      seen.filter((one) => one.path === '/store/k').every((one) => Number(one.query.get('n')) >= 3),
    ).toBe(true);
  });

  it('leaves no partial file behind, and not the old one changed', async () => {
    await objectServer((one) => (one.path === '/store/k' ? { status: 404 } : undefined));
    const place = target();
    await expect(downloader(true).download({ path: 'k', target: place.target })).rejects.toThrow(
      'answered 404',
    );
    expect(readdirSync(place.folder)).toEqual([]);
  });

  it('refuses content that is not what the object says', async () => {
    const wrong = { status: 200, body: Buffer.from('other'), headers: { etag: `"${checksum}"` } };
    await objectServer((one) => (one.path.endsWith('/objects') ? wrong : undefined));
    const place = target();
    const download = (verify: boolean): Promise<void> =>
      downloader(false, verify).download({ path: 'k', target: place.target });
    await expect(download(true)).rejects.toThrow("the object's checksum");
    expect(readdirSync(place.folder)).toEqual([]);
    await download(false);
    expect(readFileSync(place.target, 'utf8')).toBe('other');
  });

  it('follows the service to the store without its credentials', async () => {
    const { seen } = await objectServer((one, base) =>
      one.path.endsWith('/refs/main/objects')
        ? { status: 302, headers: { location: `${base}/store/k` } }
        : undefined,
    );
    const place = target();
    await downloader(true).download({
      path: 'k',
      target: place.target,
      stats: { size_bytes: content.length, checksum, physical_address: 's3://bucket/k' },
    });
    expect(seen.at(-1)?.headers.authorization).toBeUndefined();
  });

  describe('with a URL from the listing', () => {
    const listed = (base: string, seconds: number) => ({
      size_bytes: 10,
      checksum: createHash('md5').update('0123456789').digest('hex'),
      physical_address: `${base}/store/k`,
      physical_address_expiry: Math.floor(Date.now() / 1000) + seconds,
    });

    it.each([
      { what: 'asks only the store', seconds: 900, storeStatus: 200, asked: ['/store/k'] },
      { what: 'asks the service once the URL ends', seconds: 10, storeStatus: 200, asked: ['objects'] },
      {
        what: 'asks the service when the store refuses',
        seconds: 900,
        storeStatus: 403,
        asked: ['/store/k', 'objects'],
      },
    ])('$what', async ({ seconds, storeStatus, asked }) => {
      const { seen, url } = await objectServer((one) =>
        one.path === '/store/k' && storeStatus !== 200
          ? { status: storeStatus }
          : { status: 200, body: '0123456789' },
      );
      const place = target();
      await downloader(true).download({ path: 'k', target: place.target, stats: listed(url, seconds) });
      expect(readFileSync(place.target, 'utf8')).toBe('0123456789');
      expect(seen.map(({ path }) => (path.endsWith('/objects') ? 'objects' : path))).toEqual(asked);
      expect(seen.find(({ path }) => path === '/store/k')?.headers.authorization).toBeUndefined();
    });
  });

  describe('of files that are digested in a thread', () => {
    const big = Buffer.alloc(20 * 1024 * 1024, 'some bytes');
    const known = createHash('md5').update(big).digest('hex');
    const fetchBig = async (presign: boolean, md5: string, replies: readonly Partial<Reply>[] = []) => {
      await server?.stop();
      const left = [...replies];
      await objectServer((one, base) => {
        const [, from, to] = /bytes=(\d+)-(\d*)/.exec(one.headers.range ?? '') ?? [];
        if (one.path.endsWith('/stat')) {
          const address = `${base}/store/k?X-Amz-Date=${date(0)}&X-Amz-Expires=900`;
          return {
            status: 200,
            body: { path: 'k', size_bytes: big.length, checksum: md5, physical_address: address },
          };
        }
        const body = big.subarray(
          Number(from ?? 0),
          to === undefined || to === '' ? big.length : Number(to) + 1,
        );
        return { status: from === undefined ? 200 : 206, body, headers: { etag: '"e"' }, ...left.shift() };
      });
      const place = target();
      const stats = { size_bytes: big.length, checksum: md5, physical_address: 's3://bucket/k' };
      await downloader(presign)
        .download({ path: 'k', target: place.target, stats })
        .catch((error: unknown) => {
          expect(readdirSync(place.folder)).toEqual([]);
          throw error;
        });
      return readFileSync(place.target).equals(big);
    };

    it.each([false, true])('takes what the object says, presigned: %s', async (presign) => {
      expect(await fetchBig(presign, known)).toBe(true);
    });

    it.each([false, true])('refuses anything else and leaves nothing, presigned: %s', async (presign) => {
      await expect(fetchBig(presign, 'f'.repeat(32))).rejects.toThrow(`the MD5 is ${known}`);
    });

    it('goes on after a break', async () => {
      expect(await fetchBig(false, known, [{ cutAfter: 3_000_000 }])).toBe(true);
    });

    it('starts over when the object has changed after a break', async () => {
      const old = { body: Buffer.alloc(big.length, 'older'), cutAfter: 3_000_000 };
      const replies = [old, { headers: { etag: '"other"' } }, { headers: { etag: '"other"' } }];
      expect(await fetchBig(false, known, replies)).toBe(true);
    });

    it('reads no range before it is written', async () => {
      expect(await fetchBig(true, known, [{ cutAfter: 10 }])).toBe(true);
    });
  });

  it('checks many files of middle size, each against its own checksum', async () => {
    const files = Array.from({ length: 40 }, (_, n) => Buffer.alloc(1_000_000 + n * 1000, `content ${n}`));
    await objectServer((one) => ({ status: 200, body: files[Number(one.query.get('path'))] ?? '' }));
    const folder = tempDir();
    const one = downloader(false);
    const found = await Promise.allSettled(
      files.map((bytes, n) => {
        const md5 = createHash('md5').update(bytes).digest('hex');
        const stats = { size_bytes: bytes.length, checksum: n === 30 ? 'f'.repeat(32) : md5 };
        const target = join(folder, String(n));
        return one.download({
          path: String(n),
          target,
          stats: { ...stats, physical_address: 'local://bucket/k' },
        });
      }),
    );
    expect(found.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([30]);
    expect(readdirSync(folder)).toHaveLength(39);
    for (const name of readdirSync(folder))
      expect(readFileSync(join(folder, name)).equals(files[Number(name)] ?? Buffer.alloc(0))).toBe(true);
  });

  it('keeps nothing of a longer object that was replaced meanwhile', async () => {
    const replies: Reply[] = [
      { status: 200, body: 'x'.repeat(5000), headers: { etag: '"long"' }, cutAfter: 3000 },
      { status: 206, body: 'y', headers: { etag: '"short"' } },
      { status: 200, body: 'short', headers: { etag: '"short"' } },
    ];
    await objectServer(() => replies.shift());
    const place = target();
    await downloader(false).download({ path: 'k', target: place.target });
    expect(readFileSync(place.target, 'utf8')).toBe('short');
  });
});
