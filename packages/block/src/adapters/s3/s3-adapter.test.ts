import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { startFaultProxy, testServerOrSkip } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import type { ObjectPointer } from '../../adapter.ts';
import { describeBlockAdapter } from '../../suite/index.ts';
import { expectDocumented, s3Needs } from '../../../test/permissions.ts';
import { createBucket, s3ConfigFor } from '../../../test/test-bucket.ts';
import { S3Client } from './client.ts';
import { openCredentials } from './credentials.ts';
import { openS3Adapter, S3Adapter, type CopyLimits } from './s3-adapter.ts';

const mebibyte = 1024 * 1024;

const versitygw = await testServerOrSkip('versitygw');
const moto = await testServerOrSkip('moto');

describe.skipIf(versitygw === undefined)('s3 on a real server', () => {
  const at = (bucket: string, identifier: string): ObjectPointer => ({
    storageNamespace: `s3://${bucket}`,
    identifier,
    identifierType: 'relative',
  });

  async function withBucket(
    use: (adapter: S3Adapter, bucket: string) => Promise<void>,
    limits?: CopyLimits,
  ): Promise<void> {
    const config = s3ConfigFor(versitygw!);
    const bucket = await createBucket(config);
    const client = new S3Client(config, await openCredentials(config), undefined);
    const adapter = new S3Adapter(config, client, limits);
    try {
      await use(adapter, bucket);
    } finally {
      await adapter.close();
    }
  }

  it('copies large objects in parts', async () => {
    await withBucket(
      async (adapter, bucket) => {
        const body = randomBytes(11 * mebibyte);
        await adapter.put(at(bucket, 'source'), body);
        const { etag } = await adapter.copy(at(bucket, 'source'), at(bucket, 'copy'));
        expect(etag).toMatch(/-3$/);
        const chunks = await (await adapter.get(at(bucket, 'copy'))).stream().toArray();
        expect(Buffer.concat(chunks as Buffer[]).equals(body)).toBe(true);
      },
      { maxSingle: 10 * mebibyte, part: 5 * mebibyte },
    );
  });

  it('takes a part of unknown length, small and large', async () => {
    await withBucket(async (adapter, bucket) => {
      const pointer = at(bucket, 'x');
      const upload = { pointer, uploadId: await adapter.createMultipart(pointer) };
      const large = randomBytes(9 * mebibyte);
      const parts = [
        await adapter.uploadPart(upload, 1, { stream: Readable.from([large]), size: -1 }),
        await adapter.uploadPart(upload, 2, { stream: Readable.from([Buffer.from('end')]), size: -1 }),
      ];
      expect(parts.map((part) => part.size)).toEqual([large.length, 3]);
      const { size } = await adapter.completeMultipart(
        upload,
        parts.map(({ etag }, index) => ({ partNumber: index + 1, etag })),
      );
      expect(size).toBe(large.length + 3);
    });
  });

  it('stores nothing of a body that is not what its MD5 says', async () => {
    await withBucket(async (adapter, bucket) => {
      const md5 = createHash('md5').update('what was sent').digest();
      const kept = adapter.put(at(bucket, 'changed'), Buffer.from('what came in'), { md5 });
      await expect(kept).rejects.toMatchObject({ kind: 'write_failed' });
      expect(await adapter.exists(at(bucket, 'changed'))).toBe(false);
      await adapter.put(at(bucket, 'same'), Buffer.from('what was sent'), { md5 });
      expect(await adapter.exists(at(bucket, 'same'))).toBe(true);
    });
  });

  it('reads a large range in stripes where one connection gives little, and all of it from one version', async () => {
    const bucket = await createBucket(s3ConfigFor(versitygw!));
    const config = s3ConfigFor(versitygw!);
    const client = new S3Client(config, await openCredentials(config), undefined);
    Object.defineProperty(client, 'isWorthStripes', { value: true });
    const adapter = new S3Adapter(config, client);
    const content = randomBytes(20 * mebibyte + 77);
    await adapter.put(at(bucket, 'large'), content);
    const ranges = [
      [0, content.length - 1],
      [0, content.length + 5],
      [3, 9 * mebibyte],
      [11 * mebibyte - 1, 20 * mebibyte],
      [content.length - 9 * mebibyte, Number.MAX_SAFE_INTEGER],
      [content.length - 100, content.length + 9 * mebibyte],
    ] as const;
    for (const [start, end] of ranges) {
      const body = await adapter.getRange(at(bucket, 'large'), start, end);
      const expected = content.subarray(start, end + 1);
      expect(body.size).toBe(expected.length);
      expect((body.bytes ?? (await buffer(body.stream()))).equals(expected)).toBe(true);
    }
    const missing = { kind: 'not_found' };
    await expect(adapter.getRange(at(bucket, 'none'), 0, 9 * mebibyte)).rejects.toMatchObject(missing);
    const beyond = { kind: 'bad_index' };
    await expect(
      adapter.getRange(at(bucket, 'large'), content.length, content.length + 9 * mebibyte),
    ).rejects.toMatchObject(beyond);
    // No more than four at once hold so much memory, and those that ended make room.
    expect(adapter.prefersRanges()).toBe(true);
    const bodies = await Promise.all(
      Array.from({ length: 4 }, () => adapter.getRange(at(bucket, 'large'), 0, 19 * mebibyte)),
    );
    expect(adapter.prefersRanges()).toBe(false);
    const changed = bodies.pop();
    for (const body of bodies) body.dispose();
    expect(adapter.prefersRanges()).toBe(true);
    await adapter.put(at(bucket, 'large'), randomBytes(20 * mebibyte));
    await expect(buffer(changed!.stream())).rejects.toThrow(/412|PreconditionFailed/);
    expect(adapter.connectionsInUse()).toBe(0);
    await adapter.close();
  });

  it('refuses a pre-signed URL whose expiry was altered', async () => {
    await withBucket(async (adapter, bucket) => {
      await adapter.put(at(bucket, 'x'), Buffer.from('x'));
      const { url } = await adapter.presign(at(bucket, 'x'), 'read');
      expect((await fetch(url)).status).toBe(200);
      expect((await fetch(url.replace('X-Amz-Expires=900', 'X-Amz-Expires=9000'))).status).toBe(403);
    });
  });

  it('sends the ACL and the encryption with everything that makes an object', async () => {
    const bucket = await createBucket(s3ConfigFor(versitygw!));
    const proxy = await startFaultProxy(versitygw!.endpoint, () => 'pass');
    const config = {
      ...s3ConfigFor(versitygw!),
      endpoint: proxy.endpoint,
      acl: 'bucket-owner-full-control',
      serverSideEncryption: 'AES256',
    };
    const client = new S3Client(config, await openCredentials(config), undefined);
    const adapter = new S3Adapter(config, client, { maxSingle: mebibyte, part: 5 * mebibyte });
    await adapter.put(at(bucket, 'small'), Buffer.from('x'));
    const large = randomBytes(9 * mebibyte);
    await adapter.put(at(bucket, 'streamed'), { stream: Readable.from([large]), size: large.length });
    await adapter.put(at(bucket, 'unknown'), { stream: Readable.from([large]), size: -1 });
    await adapter.copy(at(bucket, 'small'), at(bucket, 'copied'));
    await adapter.copy(at(bucket, 'streamed'), at(bucket, 'copied in parts'));
    const pointer = at(bucket, 'parts');
    const upload = { pointer, uploadId: await adapter.createMultipart(pointer) };
    const { etag } = await adapter.uploadPart(upload, 1, Buffer.from('part'));
    await adapter.completeMultipart(upload, [{ partNumber: 1, etag }]);
    await adapter.close();
    await proxy.close();
    const making = proxy.seen.filter(
      ({ method, url }) =>
        (method === 'PUT' && !url.includes('partNumber=')) || (method === 'POST' && /[?&]uploads/.test(url)),
    );
    expect(making.map(({ method, url }) => `${method} ${url.split('?')[0]?.split('/').at(-1)}`)).toEqual([
      'PUT small',
      'PUT streamed',
      'POST unknown',
      'PUT copied',
      'POST copied%20in%20parts',
      'POST parts',
    ]);
    for (const { headers } of making) {
      expect(headers).toMatchObject({
        'x-amz-acl': 'bucket-owner-full-control',
        'x-amz-server-side-encryption': 'AES256',
      });
    }
    // Parts and reads carry neither.
    const others = proxy.seen.filter((request) => !making.includes(request));
    expect(others.filter(({ headers }) => headers['x-amz-acl'] !== undefined)).toEqual([]);
  });

  it('says which bucket is missing', async () => {
    await withBucket(async (adapter) => {
      await expect(adapter.put(at('svc-no-such-bucket', 'x'), Buffer.from('x'))).rejects.toMatchObject({
        kind: 'invalid_namespace',
      });
      await expect(adapter.get(at('svc-no-such-bucket', 'x'))).rejects.toMatchObject({ kind: 'not_found' });
    });
  });
});

for (const [name, server] of Object.entries({ versitygw, moto })) {
  if (server === undefined) {
    describe(`block adapter s3 on ${name}`, () => {
      it('is skipped: the server cannot be had here', ({ skip }) => skip());
    });
    continue;
  }
  const proxy = name === 'versitygw' ? await startFaultProxy(server.endpoint, () => 'pass') : undefined;
  const config = { ...s3ConfigFor(server), ...(proxy === undefined ? {} : { endpoint: proxy.endpoint }) };
  describeBlockAdapter(`s3 on ${name}`, async () => {
    const bucket = await createBucket(config);
    const adapter = await openS3Adapter(config);
    return {
      adapter,
      namespace: `s3://${bucket}/prefix`,
      minPartSize: 5 * mebibyte,
      holdsPartsBack: false,
      refusesUnknownUploads: name !== 'moto',
      datesUploads: name !== 'moto',
      atomicIfAbsent: name !== 'moto',
      close: () => adapter.close(),
    };
  });
  if (proxy === undefined) continue;

  it('s3 needs what the documentation names', async () => {
    await proxy.close();
    // Where s3.acl is set, and the creation of the bucket by this test.
    const seen = proxy.seen.filter(({ method, url }) => !(method === 'PUT' && /^\/[^/]+$/.test(url)));
    expectDocumented('aws.md', /s3:[A-Z]\w+/g, seen, s3Needs, ['s3:PutObjectAcl']);
  });
}
