import { randomBytes } from 'node:crypto';
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
import { azureConfigFor, createContainer } from '../../../test/test-container.ts';
import type { ObjectPointer } from '../../adapter.ts';
import type { AzureStoreConfig } from '../../config.ts';
import { contentOf } from '../../suite/bodies.ts';
import { AzureAdapter, type AzureLimits } from './azure-adapter.ts';
import { AzureClient } from './client.ts';

const azurite = await testServerOrSkip('azurite');

const at = (storageNamespace: string, identifier: string): ObjectPointer => ({
  storageNamespace,
  identifier,
  identifierType: 'relative',
});
const text = async (adapter: AzureAdapter, pointer: ObjectPointer): Promise<string> =>
  (await contentOf(await adapter.get(pointer))).toString();

describe.skipIf(azurite === undefined)('azure on a real server', () => {
  const server = azurite!;

  async function withContainer(
    use: (adapter: AzureAdapter, namespace: string, config: AzureStoreConfig) => Promise<void>,
    limits?: AzureLimits,
    more: Partial<AzureStoreConfig> = {},
  ): Promise<void> {
    const config = { ...azureConfigFor(server), ...more };
    const namespace = await createContainer(server);
    const adapter = new AzureAdapter(config, {}, limits);
    try {
      await use(adapter, namespace, config);
    } finally {
      await adapter.close();
    }
  }

  /** The adapter behind a proxy that decides what becomes of each request. */
  async function withFaults(
    decide: (request: SeenRequest, before: number) => Fate,
    use: (adapter: AzureAdapter, namespace: string, proxy: FaultProxy) => Promise<void>,
    more: Partial<AzureStoreConfig> = {},
  ): Promise<void> {
    const namespace = await createContainer(server);
    const proxy = await startFaultProxy(server.endpoint, decide);
    const adapter = new AzureAdapter({ ...azureConfigFor(server), testEndpointUrl: proxy.endpoint, ...more });
    try {
      await use(adapter, namespace, proxy);
    } finally {
      await adapter.close();
      await proxy.close();
    }
  }

  it('takes directories of a hierarchical namespace for nothing', async () => {
    await withContainer(async (adapter, namespace, config) => {
      const client = new AzureClient(config, undefined);
      const place = client.addresses.resolve(at(namespace, 'folder'));
      const headers = { 'x-ms-blob-type': 'BlockBlob', 'x-ms-meta-hdi_isfolder': 'true' };
      await (await client.send({ method: 'PUT', place, headers })).body.dump();
      await client.close();
      await adapter.put(at(namespace, 'folder/x'), Buffer.from('x'));
      expect(await adapter.exists(at(namespace, 'folder'))).toBe(false);
      await expect(adapter.get(at(namespace, 'folder'))).rejects.toMatchObject({ kind: 'not_found' });
      const keys = [];
      for await (const page of adapter.walk(`${namespace}/`)) keys.push(...page.map((o) => o.relativeKey));
      expect(keys).toEqual(['folder/x']);
    });
  });

  it('copies in the background what is large', async () => {
    await withContainer(
      async (adapter, namespace) => {
        const body = randomBytes(100_000);
        await adapter.put(at(namespace, 'source'), body);
        const { size } = await adapter.copy(at(namespace, 'source'), at(namespace, 'copy'));
        expect(size).toBe(body.length);
        expect((await contentOf(await adapter.get(at(namespace, 'copy')))).equals(body)).toBe(true);
      },
      { synchronousCopy: 10 },
    );
  });

  it('stages a part that is larger than a block as several, and keeps the type of the upload', async () => {
    await withContainer(
      async (adapter, namespace, config) => {
        const pointer = at(namespace, 'x');
        const options = { contentType: 'text/plain', storageClass: 'cool' };
        const upload = { pointer, uploadId: await adapter.createMultipart(pointer, options) };
        const body = randomBytes(9_000_000);
        const chunks = [body.subarray(0, 5_000_000), body.subarray(5_000_000)];
        const known = { stream: Readable.from(chunks), size: body.length };
        const first = await adapter.uploadPart(upload, 1, known);
        const unknown = { stream: Readable.from([Buffer.from('end')]), size: -1 };
        const second = await adapter.uploadPart(upload, 2, unknown);
        const { size, etag } = await adapter.completeMultipart(upload, [
          { partNumber: 1, etag: first.etag },
          { partNumber: 2, etag: second.etag },
        ]);
        expect([size, etag.slice(32)]).toEqual([body.length + 3, '-2']);
        const whole = Buffer.concat([body, Buffer.from('end')]);
        expect((await contentOf(await adapter.get(pointer))).equals(whole)).toBe(true);
        const client = new AzureClient(config, undefined);
        const head = await client.send({ method: 'HEAD', place: client.addresses.resolve(pointer) });
        await head.body.dump();
        await client.close();
        expect([head.header('content-type'), head.header('x-ms-access-tier')]).toEqual([
          'text/plain',
          'Cool',
        ]);
      },
      { block: 1_000_000 },
    );
  });

  it('deletes nothing more once it may not go on', async () => {
    await withContainer(async (adapter, namespace) => {
      const pointers = ['a', 'b'].map((key) => at(namespace, key));
      for (const pointer of pointers) await adapter.put(pointer, Buffer.from('x'));
      const failures = await adapter.deleteMany(pointers, { mayGoOn: () => false });
      expect(failures.map(({ pointer, error }) => [pointer, error.kind])).toEqual(
        pointers.map((pointer) => [pointer, 'unavailable']),
      );
      for (const pointer of pointers) expect(await adapter.exists(pointer)).toBe(true);
    });
  });

  it('deletes many with few requests, and one by one what a batch leaves', async () => {
    let knowsBatches = true;
    await withFaults(
      ({ url }) => (url.includes('comp=batch') && !knowsBatches ? { status: 400 } : 'pass'),
      async (adapter, namespace, proxy) => {
        const send = vi.spyOn(AzureClient.prototype, 'send');
        await deletesInBatches(adapter, namespace, proxy, 256);
        const batches = send.mock.calls.flatMap(([request]) => (request.method === 'POST' ? [request] : []));
        // A slow store is waited for: it would delete them unseen.
        expect(batches.map(({ answerTimeoutMs }) => answerTimeoutMs)).toEqual([600_000, 600_000]);
        send.mockRestore();
        knowsBatches = false;
        await deletesOneByOne(adapter, namespace, proxy);
      },
    );
  });

  it('says who is refused and what is missing', async () => {
    const wrong = Buffer.alloc(64, 'wrong').toString('base64');
    await withContainer(async (adapter, namespace, config) => {
      const refused = new AzureAdapter({ ...config, storageAccessKey: wrong });
      await expect(refused.put(at(namespace, 'x'), Buffer.from('x'))).rejects.toMatchObject({
        kind: 'forbidden',
        message: expect.stringContaining('AuthorizationFailure') as string,
      });
      await refused.close();
      const missing = namespace.replace(/svc-\w+$/, 'svc-missing');
      await expect(adapter.put(at(missing, 'x'), Buffer.from('x'))).rejects.toMatchObject({
        kind: 'invalid_namespace',
        message: expect.stringContaining('ContainerNotFound') as string,
      });
      await expect(adapter.get(at(missing, 'x'))).rejects.toMatchObject({ kind: 'not_found' });
    });
  });

  it('refuses a URL that was altered, and one for another blob', async () => {
    await withContainer(async (adapter, namespace) => {
      await adapter.put(at(namespace, 'x'), Buffer.from('x'));
      const { url } = await adapter.presign(at(namespace, 'x'), 'read');
      expect((await fetch(url)).status).toBe(200);
      expect((await fetch(url.replace(/se=\d{4}/, 'se=2099'))).status).toBe(403);
      expect((await fetch(url.replace('/x?', '/y?'))).status).toBe(403);
      expect((await fetch(url, { method: 'PUT', headers: { 'x-ms-blob-type': 'BlockBlob' } })).status).toBe(
        403,
      );
    });
  });

  it('survives a storm: answers of overload, cut connections and lost answers', async () => {
    const fates: Fate[] = [{ status: 503 }, 'drop', { status: 429 }, 'lose-answer', 'pass'];
    await withFaults(
      (_, before) => fates[before % fates.length] ?? 'pass',
      async (adapter, namespace, proxy) => {
        vi.spyOn(Math, 'random').mockReturnValue(0);
        await adapter.put(at(namespace, 'x'), Buffer.from('kept'));
        expect(await text(adapter, at(namespace, 'x'))).toBe('kept');
        expect(proxy.seen).toHaveLength(10);
        vi.restoreAllMocks();
      },
    );
  });

  it('completes an upload whose answer was lost', async () => {
    let lost = false;
    await withFaults(
      ({ url }) => {
        if (lost || !url.includes('comp=blocklist')) return 'pass';
        lost = true;
        return 'lose-answer';
      },
      async (adapter, namespace) => {
        const pointer = at(namespace, 'x');
        const upload = { pointer, uploadId: await adapter.createMultipart(pointer) };
        const { etag } = await adapter.uploadPart(upload, 1, Buffer.from('part'));
        await adapter.completeMultipart(upload, [{ partNumber: 1, etag }]);
        expect([lost, await text(adapter, pointer)]).toEqual([true, 'part']);
      },
    );
  });

  it('gives up with a clear error, and never sends a stream twice', async () => {
    await withFaults(
      ({ method }) => (method === 'PUT' ? 'drop' : 'pass'),
      async (adapter, namespace, proxy) => {
        const stream = Readable.from([randomBytes(2_000_000)]);
        await expect(adapter.put(at(namespace, 'x'), { stream, size: 2_000_000 })).rejects.toMatchObject({
          kind: 'unavailable',
          retryable: true,
          message: expect.stringContaining('the store could not be reached') as string,
        });
        expect(proxy.seen).toHaveLength(1);
        expect(await adapter.exists(at(namespace, 'x'))).toBe(false);
      },
    );
    const nobody = new AzureAdapter({
      ...azureConfigFor(server),
      testEndpointUrl: 'http://127.0.0.1:1',
      maxRetries: 0,
    });
    await expect(nobody.get(at('https://svctest.blob.core.windows.net/c', 'x'))).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
    await nobody.close();
  });

  it('does not wait for ever for an answer', async () => {
    await withFaults(
      () => 'silence',
      async (adapter, namespace) => {
        await expect(adapter.get(at(namespace, 'x'))).rejects.toMatchObject({ kind: 'unavailable' });
      },
      { tryTimeoutMs: 50, maxRetries: 0 },
    );
  });

  it('reports a body that breaks off', async () => {
    await withFaults(
      ({ method }) => (method === 'GET' ? 'cut-answer' : 'pass'),
      async (adapter, namespace) => {
        await adapter.put(at(namespace, 'small'), randomBytes(1000));
        await expect(adapter.get(at(namespace, 'small'))).rejects.toMatchObject({ kind: 'unavailable' });
        await adapter.put(at(namespace, 'large'), randomBytes(1_000_000));
        const body = await adapter.get(at(namespace, 'large'));
        await expect(contentOf(body)).rejects.toThrow();
      },
    );
  });

  it('learns the time of the store', async () => {
    const ahead = new Date(Date.now() + 3_600_000);
    const refusal = {
      status: 403,
      headers: { date: ahead.toUTCString(), 'x-ms-error-code': 'AuthenticationFailed' },
    };
    await withFaults(
      (_, before) => (before === 0 ? refusal : 'pass'),
      async (adapter, namespace, proxy) => {
        await adapter.put(at(namespace, 'x'), Buffer.from('x'));
        const sent = Date.parse(String(proxy.seen[1]?.headers['x-ms-date']));
        expect(Math.abs(sent - ahead.getTime())).toBeLessThan(60_000);
      },
    );
  });
});
