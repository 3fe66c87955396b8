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
      stats: { size_bytes: content.length, checksum },
    });
    expect(seen.at(-1)?.headers.authorization).toBeUndefined();
  });
});
