import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  startFaultProxy,
  testServerOrSkip,
  type Fate,
  type FaultProxy,
  type SeenRequest,
} from '@svc/testing';
import { describe, expect, it, vi } from 'vitest';
import { deletesInBatches, deletesOneByOne } from '../../../test/batch-deletes.ts';
import { createBucketOn, gsConfigFor } from '../../../test/test-gs-bucket.ts';
import type { ObjectPointer } from '../../adapter.ts';
import type { GsStoreConfig } from '../../config.ts';
import { Renewing } from '../../remote/renewing.ts';
import { contentOf } from '../../suite/bodies.ts';
import type { GsCredentials } from './credentials.ts';
import { GsAdapter, openGsAdapter } from './gs-adapter.ts';

const server = await testServerOrSkip('fake-gcs');
const anonymous: GsCredentials = { token: undefined, signer: undefined };

const at = (bucket: string, identifier: string): ObjectPointer => ({
  storageNamespace: `gs://${bucket}`,
  identifier,
  identifierType: 'relative',
});

describe.skipIf(server === undefined)('gs on a real server', () => {
  /** The adapter behind a proxy that decides what becomes of each request. */
  async function withFaults(
    decide: (request: SeenRequest, before: number) => Fate,
    use: (adapter: GsAdapter, bucket: string, proxy: FaultProxy) => Promise<void>,
    more: Partial<GsStoreConfig> = {},
    credentials = anonymous,
  ): Promise<void> {
    const bucket = await createBucketOn(server!);
    const proxy = await startFaultProxy(server!.endpoint, decide);
    const adapter = new GsAdapter({ ...gsConfigFor(proxy), ...more }, credentials);
    try {
      await use(adapter, bucket, proxy);
    } finally {
      await adapter.close();
      await proxy.close();
    }
  }

  it('joins more parts than one call takes', async () => {
    await withFaults(
      () => 'pass',
      async (adapter, bucket, proxy) => {
        const pointer = at(bucket, 'x');
        const upload = {
          pointer,
          uploadId: await adapter.createMultipart(pointer, { contentType: 'text/plain' }),
        };
        const parts = [];
        for (let partNumber = 1; partNumber <= 70; partNumber++) {
          const { etag } = await adapter.uploadPart(upload, partNumber, Buffer.from(`<${partNumber}>`));
          parts.push({ partNumber, etag });
        }
        const { etag } = await adapter.completeMultipart(upload, parts);
        expect(etag.slice(32)).toBe('-70');
        const whole = parts.map(({ partNumber }) => `<${partNumber}>`).join('');
        expect((await contentOf(await adapter.get(pointer))).toString()).toBe(whole);
        expect(proxy.seen.filter(({ url }) => url.includes('/compose'))).toHaveLength(4);
        const keys = [];
        for await (const page of adapter.walk(`gs://${bucket}/`))
          keys.push(...page.map((o) => o.relativeKey));
        expect(keys).toEqual(['x']);
      },
    );
  });

  it('deletes many with few requests, and one by one what a batch leaves', async () => {
    let knowsBatches = true;
    await withFaults(
      ({ url }) => (url.startsWith('/batch/') && !knowsBatches ? { status: 400 } : 'pass'),
      async (adapter, bucket, proxy) => {
        await deletesInBatches(adapter, `gs://${bucket}`, proxy, 100);
        knowsBatches = false;
        await deletesOneByOne(adapter, `gs://${bucket}`, proxy);
      },
    );
  });

  it('copies across buckets, with as many calls as the service asks for', async () => {
    const half = JSON.stringify({ kind: 'storage#rewriteResponse', done: false, rewriteToken: 'go on' });
    const rewrites: string[] = [];
    await withFaults(
      ({ url }) => {
        if (!url.includes('/rewriteTo/')) return 'pass';
        rewrites.push(url);
        return rewrites.length === 1 ? { status: 200, body: half } : 'pass';
      },
      async (adapter, bucket) => {
        const other = await createBucketOn(server!);
        await adapter.put(at(bucket, 'x'), Buffer.from('content'));
        const { size, etag } = await adapter.copy(at(bucket, 'x'), at(other, 'y'));
        expect([size, etag]).toEqual([7, createHash('md5').update('content').digest('hex')]);
        expect((await contentOf(await adapter.get(at(other, 'y')))).toString()).toBe('content');
        expect(rewrites.map((url) => new URL(url, 'http://x').searchParams.get('rewriteToken'))).toEqual([
          null,
          'go on',
        ]);
      },
    );
  });

  it("sends the customer's key with everything, and reads what has none", async () => {
    const key = 'ab'.repeat(32);
    const sha256 = createHash('sha256').update(Buffer.from(key, 'hex')).digest('base64');
    let isForeign = false;
    await withFaults(
      ({ method, headers }) =>
        isForeign && method === 'GET' && headers['x-goog-encryption-key'] !== undefined
          ? { status: 400, body: '{"error":{"message":"not encrypted with a customer key"}}' }
          : 'pass',
      async (adapter, bucket, proxy) => {
        const pointer = at(bucket, 'x');
        await adapter.put(pointer, Buffer.from('x'));
        await adapter.put(at(bucket, 'large'), { stream: Readable.from([randomBytes(9_000_000)]), size: -1 });
        const upload = { pointer, uploadId: await adapter.createMultipart(pointer) };
        const { etag } = await adapter.uploadPart(upload, 1, Buffer.from('part'));
        await adapter.completeMultipart(upload, [{ partNumber: 1, etag }]);
        expect((await contentOf(await adapter.get(pointer))).toString()).toBe('part');
        for (const { method, url, headers } of proxy.seen) {
          if (method === 'DELETE' || url.includes('maxResults=')) continue;
          expect(headers['x-goog-encryption-key-sha256'], url).toBe(sha256);
        }
        await expect(adapter.presign(pointer, 'read')).rejects.toMatchObject({ kind: 'not_supported' });
        isForeign = true;
        expect((await contentOf(await adapter.get(pointer))).toString()).toBe('part');
      },
      { serverSideEncryptionCustomerSupplied: key },
    );
  });

  it('names the KMS key in every write', async () => {
    await withFaults(
      () => 'pass',
      async (adapter, bucket, proxy) => {
        const pointer = at(bucket, 'x');
        await adapter.put(pointer, Buffer.from('x'));
        await adapter.put(at(bucket, 'large'), { stream: Readable.from([randomBytes(9_000_000)]), size: -1 });
        await adapter.copy(pointer, at(bucket, 'y'));
        const upload = { pointer, uploadId: await adapter.createMultipart(pointer) };
        const { etag } = await adapter.uploadPart(upload, 1, Buffer.from('part'));
        await adapter.completeMultipart(upload, [{ partNumber: 1, etag }]);
        const writes = proxy.seen.filter(({ method }) => method === 'POST');
        expect(writes).toHaveLength(6);
        for (const { url } of writes) expect(url).toMatch(/(k|destinationK)msKeyName=the-key/);
      },
      { serverSideEncryptionKmsKeyId: 'the-key' },
    );
  });

  it('survives a storm: answers of overload, cut connections and lost answers', async () => {
    const fates: Fate[] = [{ status: 503 }, 'drop', { status: 429 }, 'lose-answer', 'pass'];
    await withFaults(
      (_, before) => fates[before % fates.length] ?? 'pass',
      async (adapter, bucket, proxy) => {
        vi.spyOn(Math, 'random').mockReturnValue(0);
        await adapter.put(at(bucket, 'x'), Buffer.from('kept'));
        expect((await contentOf(await adapter.get(at(bucket, 'x')))).toString()).toBe('kept');
        expect(proxy.seen).toHaveLength(10);
        vi.restoreAllMocks();
      },
    );
  });

  it('says what is missing and who is refused', async () => {
    let tokens = 0;
    const token = new Renewing(async () => ({ token: `token ${tokens++}`, expiration: undefined }));
    await withFaults(
      ({ url, headers }) => {
        if (url.includes('forbidden')) return { status: 403, body: '{"error":{"message":"not you"}}' };
        return headers['authorization'] === 'Bearer token 0' ? { status: 401 } : 'pass';
      },
      async (adapter, bucket) => {
        await expect(adapter.get(at('svc-missing', 'x'))).rejects.toMatchObject({ kind: 'not_found' });
        await expect(adapter.put(at('svc-missing', 'x'), Buffer.from('x'))).rejects.toMatchObject({
          kind: 'invalid_namespace',
        });
        await expect(adapter.get(at(bucket, 'forbidden'))).rejects.toMatchObject({
          kind: 'forbidden',
          message: `gs://${bucket}/forbidden: the store answered 403: not you`,
        });
        // The first token was refused and replaced once.
        expect(tokens).toBe(2);
      },
      {},
      { token, signer: undefined },
    );
  });

  it('reports a body that breaks off, and nobody at home', async () => {
    await withFaults(
      ({ method }) => (method === 'GET' ? 'cut-answer' : 'pass'),
      async (adapter, bucket) => {
        await adapter.put(at(bucket, 'small'), randomBytes(1000));
        await expect(adapter.get(at(bucket, 'small'))).rejects.toMatchObject({ kind: 'unavailable' });
        await adapter.put(at(bucket, 'large'), randomBytes(1_000_000));
        await expect(contentOf(await adapter.get(at(bucket, 'large')))).rejects.toThrow();
      },
    );
    const nobody = await openGsAdapter({ type: 'gs', endpoint: 'http://127.0.0.1:1', maxRetries: 0 });
    await expect(nobody.get(at('b', 'x'))).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
    await nobody.close();
  });
});
