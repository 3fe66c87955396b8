import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { BlockAdapter } from '../../adapter.ts';
import type { S3StoreConfig } from '../../config.ts';
import { credentials, at, withStub, refuse, accept } from '../../../test/s3-stub.ts';
import { openS3Adapter } from './s3-adapter.ts';

it('counts the connections with a request on them', async () => {
  const waiting: ServerResponse[] = [];
  let both: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => (both = resolve));
  await withStub(
    (_, response) => {
      waiting.push(response);
      if (waiting.length === 2) both();
    },
    {},
    async (adapter) => {
      expect(adapter.connectionsInUse?.()).toBe(0);
      const calls = Promise.all([adapter.exists(at('x')), adapter.exists(at('y'))]);
      await arrived;
      expect(adapter.connectionsInUse?.()).toBe(2);
      for (const response of waiting) accept(response);
      await calls;
      expect(adapter.connectionsInUse?.()).toBe(0);
    },
  );
});

it('reads over TLS from an address without a name, and says when the certificate is not trusted', async () => {
  const part = (name: string): Buffer =>
    readFileSync(join(import.meta.dirname, `../../../test/fixtures/localhost.${name}.pem`));
  const server = createServer({ key: part('key'), cert: part('cert') }, (_, response) =>
    response.end('content'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = { type: 's3', endpoint, credentials, discoverBucketRegion: false, maxRetries: 0 } as const;
  const trusting = await openS3Adapter({ ...config, skipVerifyCertificateTestOnly: true });
  expect((await trusting.get(at('x'))).bytes?.toString()).toBe('content');
  await trusting.close();
  const adapter = await openS3Adapter(config);
  const untrusted = {
    kind: 'unavailable',
    message: expect.stringMatching(/could not be reached: (DEPTH_ZERO_)?SELF_SIGNED_CERT/) as string,
  };
  await expect(adapter.get(at('x'))).rejects.toMatchObject(untrusted);
  await expect(adapter.put(at('x'), Buffer.from('x'))).rejects.toMatchObject(untrusted);
  await adapter.close();
  server.close();
});

describe('retries', () => {
  it('repeat what failed for a while, body included', async () => {
    await withStub(
      (_, response, count) => {
        if (count === 1) refuse(response, 503, 'SlowDown');
        else if (count === 2) response.destroy();
        else accept(response);
      },
      {},
      async (adapter, seen) => {
        await adapter.put(at('x'), Buffer.from('body'));
        expect(seen.map((request) => request.body.toString())).toEqual(['body', 'body', 'body']);
      },
    );
  });

  it('give up with a retryable error', async () => {
    await withStub(
      (_, response) => refuse(response, 500, 'InternalError'),
      { maxRetries: 2 },
      async (adapter, seen) => {
        await expect(adapter.get(at('x'))).rejects.toMatchObject({ kind: 'unavailable', retryable: true });
        expect(seen.length).toBe(3);
      },
    );
  });

  it('never resend a stream', async () => {
    const body = Buffer.alloc(3_000_000, 'x');
    await withStub(
      (_, response) => refuse(response, 503, 'SlowDown'),
      {},
      async (adapter, seen) => {
        const put = adapter.put(at('x'), { stream: Readable.from([body]), size: body.length });
        await expect(put).rejects.toMatchObject({ kind: 'unavailable' });
        expect(seen.length).toBe(1);
      },
    );
  });

  it('do not repeat a refusal, and hide no code', async () => {
    await withStub(
      (_, response) => refuse(response, 403, 'AccessDenied'),
      {},
      async (adapter, seen) => {
        await expect(adapter.get(at('x'))).rejects.toMatchObject({
          kind: 'forbidden',
          message: 's3://bucket/ns/x: the store answered 403 AccessDenied: told so',
        });
        expect(seen.length).toBe(1);
      },
    );
  });

  it('correct a clock that is off', async () => {
    await withStub(
      (request, response, count) => {
        const late = new Date(Date.now() + 3_600_000);
        if (count === 1) refuse(response, 403, 'RequestTimeTooSkewed', { date: late.toUTCString() });
        else {
          expect(request.headers['x-amz-date']?.toString().slice(0, 11)).toBe(
            late.toISOString().replaceAll(/[-:]/g, '').slice(0, 11),
          );
          accept(response);
        }
      },
      {},
      async (adapter) => {
        await adapter.put(at('x'), Buffer.from('x'));
      },
    );
  });

  it('read a small object again when its answer breaks off', async () => {
    await withStub(
      (_, response, count) => {
        response.writeHead(200, { 'content-length': '10' });
        response.write('01234', () => (count === 1 ? response.destroy() : response.end('56789')));
      },
      {},
      async (adapter) => {
        expect((await adapter.get(at('x'))).bytes?.toString()).toBe('0123456789');
      },
    );
  });
});

describe('time limits', () => {
  it('end a request whose store does not answer', async () => {
    await withStub(
      () => undefined,
      { streamingChunkTimeoutMs: 150 },
      async (adapter) => {
        const big = Buffer.alloc(2_000_000);
        const put = adapter.put(at('x'), { stream: Readable.from([big]), size: big.length });
        await expect(put).rejects.toMatchObject({ kind: 'unavailable' });
      },
    );
  });

  it('do not count the time a source takes', async () => {
    await withStub(
      (_, response) => accept(response),
      { streamingChunkTimeoutMs: 50, streamingChunkSize: 8192 },
      async (adapter, seen) => {
        const stream = new PassThrough();
        const put = adapter.put(at('x'), { stream, size: 20_000 });
        stream.write(Buffer.alloc(10_000));
        setTimeout(() => stream.end(Buffer.alloc(10_000)), 200);
        await put;
        expect(seen[0]?.body.length).toBe(20_000);
      },
    );
  });
});

describe('signatures', () => {
  it('cover what is asked of a store over plain HTTP, and not the data', async () => {
    await withStub(
      (_, response) => accept(response),
      { streamingChunkSize: 8192 },
      async (adapter, seen) => {
        await adapter.put(at('x'), Buffer.from('hello'));
        expect(seen[0]?.headers['x-amz-content-sha256']).toBe('UNSIGNED-PAYLOAD');
        expect(seen[0]?.headers['content-md5']).toBeUndefined();
        await adapter.put(at('x'), { stream: Readable.from([Buffer.alloc(20_000, 'a')]), size: 20_000 });
        expect(seen[1]?.headers['x-amz-content-sha256']).toBe('UNSIGNED-PAYLOAD');
        expect(seen[1]?.body.equals(Buffer.alloc(20_000, 'a'))).toBe(true);
        await adapter.deleteMany([at('x'), at('y')]).catch(() => undefined);
        const asked = seen[2];
        expect(asked?.headers['x-amz-content-sha256']).toBe(
          createHash('sha256')
            .update(asked?.body ?? '')
            .digest('hex'),
        );
      },
    );
  });

  it('cover the MD5 of data where it is known', async () => {
    await withStub(
      (_, response) => accept(response),
      {},
      async (adapter, seen) => {
        const md5 = createHash('md5').update('hello').digest();
        await adapter.put(at('x'), Buffer.from('hello'), { md5 });
        expect(seen[0]?.headers['content-md5']).toBe('XUFAKrxLKna5cZ2REBfFkg==');
        expect(seen[0]?.headers.authorization).toContain(';content-md5;');
      },
    );
  });

  it('carry session tokens, encryption and storage class', async () => {
    await withStub(
      (_, response) => accept(response),
      {
        credentials: { ...credentials, sessionToken: 'session' },
        serverSideEncryption: 'aws:kms',
        serverSideEncryptionKmsKeyId: 'key-1',
      },
      async (adapter, seen) => {
        await adapter.put(at('x'), Buffer.from('x'), { storageClass: 'GLACIER', contentType: 'text/plain' });
        expect(seen[0]?.headers).toMatchObject({
          'x-amz-security-token': 'session',
          'x-amz-server-side-encryption': 'aws:kms',
          'x-amz-server-side-encryption-aws-kms-key-id': 'key-1',
          'x-amz-storage-class': 'GLACIER',
          'content-type': 'text/plain',
        });
        expect(seen[0]?.headers.authorization).toContain('x-amz-server-side-encryption;');
      },
    );
  });
});

describe('regions', () => {
  it('are asked once per bucket and used to sign', async () => {
    await withStub(
      (request, response) => {
        if (request.method === 'HEAD') response.writeHead(403, { 'x-amz-bucket-region': 'eu-north-1' }).end();
        else accept(response);
      },
      { discoverBucketRegion: true },
      async (adapter, seen) => {
        await Promise.all([adapter.put(at('x'), Buffer.from('x')), adapter.put(at('y'), Buffer.from('y'))]);
        expect(seen.filter((request) => request.method === 'HEAD').length).toBe(1);
        for (const request of seen.slice(1))
          expect(request.headers.authorization).toContain('/eu-north-1/s3/');
        expect(await adapter.region('s3://bucket/other')).toBe('eu-north-1');
      },
    );
  });

  it('are learnt from a redirect when they are not asked', async () => {
    await withStub(
      (request, response) => {
        if (request.headers.authorization?.includes('/us-west-2/') === true) accept(response);
        else refuse(response, 400, 'AuthorizationHeaderMalformed', { 'x-amz-bucket-region': 'us-west-2' });
      },
      {},
      async (adapter, seen) => {
        await adapter.put(at('x'), Buffer.from('x'));
        await adapter.put(at('y'), Buffer.from('y'));
        expect(seen.length).toBe(3);
      },
    );
  });
});

describe('a 200 that is none', () => {
  it('fails a copy and a completion', async () => {
    await withStub(
      (request, response) => {
        if (request.method === 'HEAD') response.writeHead(200, { 'content-length': '1' }).end();
        else refuse(response, 200, 'AccessDenied');
      },
      {},
      async (adapter) => {
        await expect(adapter.copy(at('x'), at('y'))).rejects.toThrow('AccessDenied');
        const complete = adapter.completeMultipart({ pointer: at('x'), uploadId: 'u' }, [
          { partNumber: 1, etag: 'e' },
        ]);
        await expect(complete).rejects.toThrow('AccessDenied');
      },
    );
  });

  it.each([
    ['the ETag', {}, '0123456789abcdef0123456789abcdef', true],
    [
      'nothing when a key of KMS is used',
      { 'x-amz-server-side-encryption': 'aws:kms' },
      'a'.repeat(32),
      false,
    ],
    ['nothing when the ETag is of parts', {}, `${'a'.repeat(32)}-2`, false],
    ['nothing when the ETag is something else', {}, 'W/123', false],
  ])('as MD5 tells %s', async (_, headers, etag, isMd5) => {
    await withStub(
      (_request, response) => response.writeHead(200, { ...headers, etag: `"${etag}"` }).end(),
      {},
      async (adapter) => {
        const stream = Readable.from([Buffer.alloc(2 << 20)]);
        for (const body of [Buffer.from('x'), { stream, size: 2 << 20 }])
          expect((await adapter.put(at('x'), body)).md5).toBe(isMd5 ? etag : undefined);
        const upload = { pointer: at('x'), uploadId: 'u' };
        expect((await adapter.uploadPart(upload, 1, Buffer.from('x'))).md5).toBe(isMd5 ? etag : undefined);
      },
    );
  });

  it('without an ETag fails a put', async () => {
    await withStub(
      (_, response) => void response.writeHead(200).end(),
      {},
      async (adapter) => {
        await expect(adapter.put(at('x'), Buffer.from('x'))).rejects.toMatchObject({ kind: 'write_failed' });
      },
    );
  });
});

describe('pre-signed URLs', () => {
  it('end with the session and use their own endpoint', async () => {
    const expiration = new Date(Date.now() + 5 * 60_000);
    const adapter = await openS3Adapter({
      type: 's3',
      discoverBucketRegion: false,
      preSignedEndpoint: 'https://public.example.com',
      endpoint: 'http://10.0.0.1:9000',
      credentials: { ...credentials, sessionToken: 't', expiration },
    });
    const { url, expiry } = await adapter.presign(at('a b.txt'), 'read', { fileName: 'a.txt' });
    expect(expiry).toEqual(expiration);
    const parsed = new URL(url);
    expect(parsed.host).toBe('bucket.public.example.com');
    expect(parsed.pathname).toBe('/ns/a%20b.txt');
    expect(Number(parsed.searchParams.get('X-Amz-Expires'))).toBeLessThanOrEqual(301);
    expect(parsed.searchParams.get('response-content-disposition')).toBe('attachment; filename=a.txt');
    expect(parsed.searchParams.get('X-Amz-Security-Token')).toBe('t');
    await adapter.close();
  });

  it('can be turned off', async () => {
    const open = (config: Partial<S3StoreConfig>): Promise<BlockAdapter> =>
      openS3Adapter({ type: 's3', credentials, discoverBucketRegion: false, ...config });
    const off = await open({ disablePreSigned: true, disablePreSignedUi: false });
    expect(off.info).toMatchObject({
      preSignSupport: false,
      preSignSupportUi: false,
      preSignMultipartUpload: false,
    });
    await expect(off.presign(at('x'), 'read')).rejects.toMatchObject({ kind: 'not_supported' });
    const parts = await open({ disablePreSignedMultipart: true });
    expect(parts.info).toMatchObject({
      preSignSupport: true,
      preSignSupportUi: false,
      preSignMultipartUpload: false,
    });
    await expect(parts.presignPart({ pointer: at('x'), uploadId: 'u' }, 1)).rejects.toMatchObject({
      kind: 'not_supported',
    });
    await off.close();
    await parts.close();
  });
});
