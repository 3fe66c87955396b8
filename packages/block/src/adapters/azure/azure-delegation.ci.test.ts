import { join } from 'node:path';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { orSkipReason, startAzurite, startFaultProxy, type AzureServer } from '@svc/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { azureConfigFor, createContainer } from '../../../test/test-container.ts';
import type { ObjectPointer } from '../../adapter.ts';
import { contentOf } from '../../suite/bodies.ts';
import { AzureAdapter } from './azure-adapter.ts';

// Tokens are taken over TLS only: the server has a certificate, and a proxy that does not mind stands before it.
const fixtures = join(import.meta.dirname, '../../../test/fixtures');
const tls = { cert: join(fixtures, 'localhost.cert.pem'), key: join(fixtures, 'localhost.key.pem') };
const running = await orSkipReason('azurite with TLS', () => startAzurite(tls));
afterAll(() => running?.dispose());

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function bearerToken(): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    aud: 'https://storage.azure.com',
    iss: 'https://sts.windows.net/tenant/',
    iat: now,
    nbf: now - 60,
    exp: now + 3600,
    oid: '11059fcc-5514-4800-b5f8-49808b9cfab6',
    tid: 'ab1f708d-50f6-404c-a006-d71b2ac7a606',
  };
  return `${base64url({ alg: 'none', typ: 'JWT' })}.${base64url(claims)}.${base64url('unsigned')}`;
}

describe.skipIf(running === undefined)('azure with the identity of the cloud', () => {
  it('reads, writes and signs URLs without a key, and serves several accounts', async () => {
    const server = running!.address as unknown as AzureServer;
    const machine = createServer((_, response) =>
      response.end(JSON.stringify({ access_token: bearerToken(), expires_in: '3600' })),
    );
    await new Promise<void>((resolve) => machine.listen(0, '127.0.0.1', resolve));
    const proxy = await startFaultProxy(server.endpoint, () => 'pass');
    process.env['AZURE_POD_IDENTITY_AUTHORITY_HOST'] =
      `http://127.0.0.1:${(machine.address() as AddressInfo).port}`;
    const config = { ...azureConfigFor(server), testEndpointUrl: proxy.endpoint };
    const other = { account: server.otherAccount, accountKey: server.otherAccountKey };
    const adapter = new AzureAdapter(config);
    try {
      // The key is that of the first account; the second is reached with the identity.
      const plain = { ...server, endpoint: proxy.endpoint };
      const first = await createContainer(plain);
      const second = await createContainer({ ...plain, ...other });
      for (const storageNamespace of [first, second]) {
        const pointer: ObjectPointer = { storageNamespace, identifier: 'x', identifierType: 'relative' };
        await adapter.put(pointer, Buffer.from('content'));
        expect((await contentOf(await adapter.get(pointer))).toString()).toBe('content');
        const { url, expiry } = await adapter.presign(pointer, 'read', { fileName: 'x.txt' });
        expect(expiry.getTime()).toBeGreaterThan(Date.now() + 14 * 60_000);
        const isDelegated = new URL(url).searchParams.has('skoid');
        expect(isDelegated).toBe(storageNamespace === second);
        const response = await fetch(url);
        expect([response.status, await response.text()]).toEqual([200, 'content']);
        expect((await fetch(url.replace(/se=\d{4}/, 'se=2099'))).status).toBe(403);
      }
      const asked = proxy.seen.filter((request) => request.url.includes('userdelegationkey'));
      expect(asked).toHaveLength(1);
      const keyless = new AzureAdapter({ ...config, authMethod: 'msi' });
      const pointer: ObjectPointer = { storageNamespace: first, identifier: 'x', identifierType: 'relative' };
      expect(await keyless.exists(pointer)).toBe(true);
      expect(proxy.seen.at(-1)?.headers['authorization']).toMatch(/^Bearer /);
      await keyless.close();
    } finally {
      delete process.env['AZURE_POD_IDENTITY_AUTHORITY_HOST'];
      await adapter.close();
      await proxy.close();
      machine.close();
    }
  });
});
