import { createHash, createVerify } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { withService, type Asked } from '../../../test/identity-stub.ts';
import { testKey } from '../../../test/test-gs-bucket.ts';
import { openGsCredentials } from './credentials.ts';
import { GsAdapter } from './gs-adapter.ts';

const email = 'svc@example.iam.gserviceaccount.com';
const keyFor = (endpoint: string): string =>
  JSON.stringify({
    type: 'service_account',
    client_email: email,
    private_key: testKey.privateKey,
    token_uri: `${endpoint}/token`,
  });
const grant = (_: Asked, response: ServerResponse): void =>
  void response.end(JSON.stringify({ access_token: 'a-token', expires_in: 3599 }));
const homeless = { HOME: '/nowhere' };

function claimsOf(asked: Asked | undefined): Record<string, unknown> {
  const assertion = new URLSearchParams(asked?.body).get('assertion') ?? '';
  const [head = '', claims = '', signature = ''] = assertion.split('.');
  const verifier = createVerify('RSA-SHA256').update(`${head}.${claims}`);
  expect(verifier.verify(testKey.publicKey, signature, 'base64url')).toBe(true);
  return JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
}

describe('Google credentials', () => {
  it('of a service account are a signed assertion, file before text', async () => {
    await withService(grant, async (endpoint, asked) => {
      const file = join(tempDir('svc-gs'), 'key.json');
      writeFileSync(file, keyFor(endpoint));
      const { token } = await openGsCredentials(
        { type: 'gs', credentialsFile: file, credentialsJson: 'no key' },
        false,
      );
      expect((await token?.get())?.token).toBe('a-token');
      const claims = claimsOf(asked[0]);
      expect(claims).toMatchObject({ iss: email, aud: `${endpoint}/token` });
      expect(Number(claims['exp']) - Number(claims['iat'])).toBe(3600);
    });
  });

  it('follow the clock of Google', async () => {
    const ahead = new Date(Date.now() + 3_600_000);
    await withService(
      (asked, response, count) => {
        if (count > 1) return grant(asked, response);
        response.writeHead(400, { date: ahead.toUTCString() }).end('{"error":"invalid_grant"}');
      },
      async (endpoint, asked) => {
        const { token } = await openGsCredentials({ type: 'gs', credentialsJson: keyFor(endpoint) }, false);
        await token?.get();
        const issued = Number(claimsOf(asked[1])['iat']) * 1000;
        expect(Math.abs(issued - ahead.getTime())).toBeLessThan(60_000);
      },
    );
  });

  it('are found where Google puts them', async () => {
    await withService(grant, async (endpoint, asked) => {
      const folder = tempDir('svc-gs');
      const named = join(folder, 'named.json');
      writeFileSync(named, keyFor(endpoint));
      const byVariable = await openGsCredentials({ type: 'gs' }, false, {
        env: { ...homeless, GOOGLE_APPLICATION_CREDENTIALS: named },
      });
      expect(await byVariable.signer?.email()).toBe(email);
      const user = { type: 'authorized_user', client_id: 'id', client_secret: 's', refresh_token: 'r' };
      mkdirSync(join(folder, '.config', 'gcloud'), { recursive: true });
      const wellKnown = join(folder, '.config', 'gcloud', 'application_default_credentials.json');
      writeFileSync(wellKnown, JSON.stringify({ ...user, token_uri: endpoint }));
      const ofUser = await openGsCredentials({ type: 'gs' }, false, { env: { HOME: folder } });
      await ofUser.token?.get();
      expect(new URLSearchParams(asked.at(-1)?.body).get('refresh_token')).toBe('r');
      // Users cannot sign.
      const adapter = new GsAdapter({ type: 'gs' }, ofUser);
      const pointer = { storageNamespace: 'gs://b', identifier: 'x', identifierType: 'relative' } as const;
      await expect(adapter.presign(pointer, 'read')).rejects.toMatchObject({ kind: 'not_supported' });
      await adapter.close();
    });
  });

  it('of a machine sign at Google', async () => {
    await withService(
      (asked, response) => {
        if (asked.url.endsWith(':signBlob'))
          return void response.end(JSON.stringify({ signedBlob: Buffer.from('signed').toString('base64') }));
        if (asked.url.includes('recursive')) return void response.end(JSON.stringify({ email }));
        grant(asked, response);
      },
      async (endpoint, asked) => {
        const env = { ...homeless, GCE_METADATA_HOST: endpoint.replace('http://', '') };
        const credentials = await openGsCredentials({ type: 'gs' }, false, { env, iam: endpoint });
        const adapter = new GsAdapter({ type: 'gs' }, credentials);
        const pointer = { storageNamespace: 'gs://b', identifier: 'x', identifierType: 'relative' } as const;
        const { url } = await adapter.presign(pointer, 'read');
        await adapter.close();
        expect(url).toContain(`X-Goog-Signature=${Buffer.from('signed').toString('hex')}`);
        expect(url).toContain(`X-Goog-Credential=${encodeURIComponent(email)}%2F`);
        const sign = asked.find((request) => request.url.endsWith(':signBlob'));
        expect(sign?.url).toBe(`/v1/projects/-/serviceAccounts/${encodeURIComponent(email)}:signBlob`);
        expect(sign?.headers['authorization']).toBe('Bearer a-token');
        const payload = (JSON.parse(sign?.body ?? '{}') as { payload: string }).payload;
        expect(Buffer.from(payload, 'base64').toString()).toMatch(/^GOOG4-RSA-SHA256\n/);
        for (const { url: path, headers } of asked)
          if (path.startsWith('/computeMetadata')) expect(headers['metadata-flavor']).toBe('Google');
      },
    );
  });

  it('of another identity provider are exchanged', async () => {
    await withService(
      (asked, response) => {
        if (asked.url.includes('generateAccessToken'))
          return void response.end(
            JSON.stringify({ accessToken: 'imp', expireTime: '2030-01-01T00:00:00Z' }),
          );
        grant(asked, response);
      },
      async (endpoint, asked) => {
        const file = join(tempDir('svc-gs'), 'subject');
        writeFileSync(file, 'subject token\n');
        const account = {
          type: 'external_account',
          audience: 'aud',
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
          token_url: `${endpoint}/sts`,
          service_account_impersonation_url: `${endpoint}/serviceAccounts/${email}:generateAccessToken`,
          credential_source: { file },
        };
        const credentialsJson = JSON.stringify(account);
        const { token, signer } = await openGsCredentials({ type: 'gs', credentialsJson }, false);
        expect((await token?.get())?.token).toBe('imp');
        expect(new URLSearchParams(asked[0]?.body).get('subject_token')).toBe('subject token');
        expect(await signer?.email()).toBe(email);
      },
    );
  });

  it('that cannot be used are named, without their content', async () => {
    const open = (credentialsJson: string) => openGsCredentials({ type: 'gs', credentialsJson }, false);
    const refused = async (json: string): Promise<string> =>
      await open(json).then(
        () => '',
        (error: Error) => error.message,
      );
    expect(await refused('no JSON, but secret')).toBe('gs.credentials_json is not the JSON of a key');
    expect(await refused('{"type":"unheard"}')).toContain('is of type "unheard"');
    expect(await refused('{"type":"service_account"}')).toContain('has no client_email');
    const broken = JSON.stringify({
      type: 'service_account',
      client_email: email,
      private_key: 'top secret',
    });
    expect(await refused(broken)).toBe(
      'the private_key of gs.credentials_json is not an RSA key in PEM form',
    );
    await expect(openGsCredentials({ type: 'gs', credentialsFile: '/no/such' }, false)).rejects.toMatchObject(
      {
        kind: 'configuration',
      },
    );
  });
});

describe('signed URLs', () => {
  it('hold the signature of what they say', async () => {
    await withService(grant, async (endpoint) => {
      const credentials = await openGsCredentials({ type: 'gs', credentialsJson: keyFor(endpoint) }, false);
      const adapter = new GsAdapter({ type: 'gs', preSignedExpiryMs: 60_000 }, credentials);
      const pointer = {
        storageNamespace: 'gs://bucket/a b',
        identifier: 'ä+/x',
        identifierType: 'relative',
      } as const;
      const { url } = await adapter.presign(pointer, 'write');
      await adapter.close();
      const signed = new URL(url);
      expect(signed.origin + signed.pathname).toBe('https://storage.googleapis.com/bucket/a%20b/%C3%A4%2B/x');
      const [query = '', signature = ''] = signed.search.slice(1).split('&X-Goog-Signature=');
      const canonical = `PUT\n${signed.pathname}\n${query}\nhost:storage.googleapis.com\n\nhost\nUNSIGNED-PAYLOAD`;
      const date = signed.searchParams.get('X-Goog-Date') ?? '';
      const digest = createHash('sha256').update(canonical).digest('hex');
      const text = `GOOG4-RSA-SHA256\n${date}\n${date.slice(0, 8)}/auto/storage/goog4_request\n${digest}`;
      expect(createVerify('RSA-SHA256').update(text).verify(testKey.publicKey, signature, 'hex')).toBe(true);
      expect(signed.searchParams.get('X-Goog-Expires')).toBe('60');
    });
  });
});
