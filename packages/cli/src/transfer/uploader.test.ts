import { createHash } from 'node:crypto';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeServer, type Reply, type Seen } from '../../test/fake-server.ts';
import { Uploader } from './uploader.ts';

let server: FakeServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

const branch = '/api/v1/repositories/repo/branches/main';
const mebibyte = 1024 * 1024;

function signed(base: string, part: number, secondsLeft: number): string {
  const date = new Date(Date.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${base}/store/part-${part}?X-Amz-Date=${date}&X-Amz-Expires=${secondsLeft}`;
}

function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex');
}

function uploader(presign: { supported: boolean; multipart: boolean }, attempts = 5): Uploader {
  return new Uploader({
    transport: server!.transport(attempts),
    repository: 'repo',
    branch: 'main',
    presign,
  });
}

function sizedFile(size: number): string {
  const file = join(tempDir(), 'file');
  writeFileSync(file, '');
  truncateSync(file, size);
  return file;
}

/** A store and a service that take parts; a test replaces single answers. */
async function partsServer(
  override: (seen: Seen, base: string) => Reply | undefined,
  secondsLeft = 900,
): Promise<FakeServer> {
  let base = '';
  server = await FakeServer.start((seen) => {
    const other = override(seen, base);
    if (other !== undefined) return other;
    if (seen.path === `${branch}/staging/pmpu`) {
      const parts = Number(seen.query.get('parts'));
      const urls = Array.from({ length: parts }, (_, at) => signed(base, at + 1, secondsLeft));
      return {
        status: 201,
        body: { upload_id: 'up', physical_address: 's3://b/k', presigned_urls: urls },
      };
    }
    if (seen.path.startsWith('/store/')) return { status: 200, headers: { etag: `"${md5(seen.body)}"` } };
    if (seen.method === 'DELETE') return { status: 204 };
    if (seen.path.includes('/parts/')) {
      return { status: 200, body: { presigned_url: `${signed(base, 1, 900)}&renewed=yes` } };
    }
    return { status: 200, body: { path: 'k', checksum: 'x', size_bytes: 1, mtime: 1, path_type: 'object' } };
  });
  base = server.url;
  return server;
}

describe('upload in parts', () => {
  it('sends 12 MiB as 5, 5 and 2 MiB and completes with three etags', async () => {
    const { seen } = await partsServer(() => undefined);
    const file = sizedFile(12 * mebibyte);
    await uploader({ supported: true, multipart: true }).upload({ path: 'k', file, size: 12 * mebibyte });
    const sizes = seen.filter((one) => one.path.startsWith('/store/')).map((one) => one.body.length);
    expect(sizes.toSorted((a, b) => b - a)).toEqual([5 * mebibyte, 5 * mebibyte, 2 * mebibyte]);
    const complete = JSON.parse(seen.at(-1)!.body.toString()) as {
      parts: { part_number: number; etag: string }[];
    };
    expect(complete.parts.map((part) => part.part_number)).toEqual([1, 2, 3]);
    expect(complete.parts.every((part) => /^[0-9a-f]{32}$/.test(part.etag))).toBe(true);
    expect(
      seen.every((one) => !one.path.startsWith('/store/') || one.headers.authorization === undefined),
    ).toBe(true);
  });

  it('renews a part URL that ends in 10 s before it is used', async () => {
    const { seen } = await partsServer(() => undefined, 10);
    const file = sizedFile(6 * mebibyte);
    await uploader({ supported: true, multipart: true }).upload({ path: 'k', file, size: 6 * mebibyte });
    const puts = seen.filter((one) => one.path.startsWith('/store/'));
    expect(puts).toHaveLength(2);
    expect(puts.every((one) => one.query.get('renewed') === 'yes')).toBe(true);
  });

  it('aborts when a part is refused', async () => {
    const { seen } = await partsServer((one) => (one.path === '/store/part-2' ? { status: 400 } : undefined));
    const file = sizedFile(12 * mebibyte);
    const upload = uploader({ supported: true, multipart: true }).upload({
      path: 'k',
      file,
      size: 12 * mebibyte,
    });
    await expect(upload).rejects.toThrow('the object store answered 400');
    expect(seen.filter((one) => one.method === 'DELETE')).toHaveLength(1);
    expect(seen.some((one) => one.path === `${branch}/staging/pmpu/up` && one.method === 'PUT')).toBe(false);
  });

  it('sends a part again after a broken connection', async () => {
    let broken = false;
    const { seen } = await partsServer((one) => {
      if (one.path !== '/store/part-1' || broken) return undefined;
      broken = true;
      return { status: 0, hangUp: true };
    });
    const file = sizedFile(6 * mebibyte);
    let moved = 0;
    await uploader({ supported: true, multipart: true }).upload({
      path: 'k',
      file,
      size: 6 * mebibyte,
      onBytes: (count) => (moved += count),
    });
    expect(seen.filter((one) => one.path === '/store/part-1')).toHaveLength(2);
    expect(moved).toBe(6 * mebibyte);
  });

  it('begins again on 409 only as often as retries allow', async () => {
    const { seen } = await partsServer((one, base) => {
      if (one.path !== `${branch}/staging/backing`) return undefined;
      if (one.method === 'PUT') return { status: 409, body: { message: 'moved' } };
      return { status: 200, body: { physical_address: 'a', presigned_url: signed(base, 1, 900) } };
    });
    const file = sizedFile(3);
    const upload = uploader({ supported: true, multipart: false }, 3).upload({ path: 'k', file, size: 3 });
    await expect(upload).rejects.toThrow('moved');
    expect(seen.filter((one) => one.path.startsWith('/store/'))).toHaveLength(3);
  });

  it('sends an empty object with a length and without a body', async () => {
    const { seen } = await partsServer((one, base) => {
      if (one.path !== `${branch}/staging/backing` || one.method === 'PUT') return undefined;
      return { status: 200, body: { physical_address: 'a', presigned_url: signed(base, 1, 900) } };
    });
    await uploader({ supported: true, multipart: true }).upload({
      path: 'dir/',
      file: sizedFile(0),
      size: 0,
    });
    const put = seen.find((one) => one.path.startsWith('/store/'));
    expect(put?.headers['content-length']).toBe('0');
    expect(put?.headers['transfer-encoding']).toBeUndefined();
  });

  it('sends the bytes of a file as they are, with type and metadata in headers', async () => {
    const { seen } = await partsServer((one) =>
      one.path === `${branch}/objects`
        ? { status: 201, body: { path: 'k', checksum: md5(one.body), size_bytes: one.body.length } }
        : undefined,
    );
    let moved = 0;
    const send = (size: number, contentType?: string): Promise<unknown> =>
      uploader({ supported: false, multipart: false }).upload({
        path: 'k',
        file: sizedFile(size),
        size,
        contentType,
        metadata: { '::lakefs::client-mtime': '7' },
        onBytes: (count) => (moved += count),
      });
    await send(3, 'text/csv');
    await send(mebibyte);
    expect(seen.map(({ headers, body }) => [headers['content-type'], body.length])).toEqual([
      ['text/csv', 3],
      ['application/octet-stream', mebibyte],
    ]);
    expect(seen[0]!.headers['x-lakefs-internal-client-mtime']).toBe('7');
    expect(moved).toBe(mebibyte + 3);
  });

  it('notices bytes that changed on the way', async () => {
    await partsServer((one) =>
      one.path === `${branch}/objects`
        ? { status: 201, body: { path: 'k', checksum: '0'.repeat(32), size_bytes: 3 } }
        : undefined,
    );
    const upload = uploader({ supported: false, multipart: false }).upload({
      path: 'k',
      file: sizedFile(3),
      size: 3,
    });
    await expect(upload).rejects.toThrow('the bytes changed on the way');
  });

  it('takes another success for no success', async () => {
    await partsServer((one) => (one.path === `${branch}/objects` ? { status: 200, body: {} } : undefined));
    const upload = uploader({ supported: false, multipart: false }).upload({
      path: 'k',
      file: sizedFile(3),
      size: 3,
    });
    await expect(upload).rejects.toThrow('answered 200, expected 201');
  });
});
