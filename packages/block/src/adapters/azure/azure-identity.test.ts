import type { ServerResponse } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { withService, type Asked } from '../../../test/identity-stub.ts';
import { azureIdentity } from './identity.ts';

const grant = (_: Asked, response: ServerResponse): void =>
  void response.end(JSON.stringify({ access_token: 'a-token', expires_in: 3600 }));
const domain = 'blob.core.windows.net';

describe('the identity of Azure', () => {
  it('asks the directory with a client secret', async () => {
    await withService(grant, async (endpoint, asked) => {
      const identity = azureIdentity(domain, {
        AZURE_TENANT_ID: 'tenant',
        AZURE_CLIENT_ID: 'client',
        AZURE_CLIENT_SECRET: 'a secret',
        AZURE_AUTHORITY_HOST: `${endpoint}/`,
      });
      const { token, expiration } = await identity();
      expect(token).toBe('a-token');
      expect(expiration?.getTime()).toBeGreaterThan(Date.now() + 3_500_000);
      expect(asked[0]?.url).toBe('/tenant/oauth2/v2.0/token');
      expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toEqual({
        grant_type: 'client_credentials',
        scope: 'https://storage.azure.com/.default',
        client_id: 'client',
        client_secret: 'a secret',
      });
    });
  });

  it('shows the token of the platform, read anew each time', async () => {
    const file = join(tempDir('svc-azure'), 'token');
    await withService(grant, async (endpoint, asked) => {
      const identity = azureIdentity(domain, {
        AZURE_TENANT_ID: 'tenant',
        AZURE_CLIENT_ID: 'client',
        AZURE_FEDERATED_TOKEN_FILE: file,
        AZURE_AUTHORITY_HOST: endpoint,
      });
      await expect(identity()).rejects.toMatchObject({ kind: 'configuration' });
      for (const token of ['first', 'second']) {
        await writeFile(file, `${token}\n`);
        await identity();
      }
      const shown = asked.map(({ body }) => new URLSearchParams(body).get('client_assertion'));
      expect(shown).toEqual(['first', 'second']);
    });
  });

  it('asks the machine, or the App Service it runs on', async () => {
    await withService(grant, async (endpoint, asked) => {
      await azureIdentity(domain, { AZURE_POD_IDENTITY_AUTHORITY_HOST: endpoint })();
      await azureIdentity(domain, {
        IDENTITY_ENDPOINT: `${endpoint}/msi/token`,
        IDENTITY_HEADER: 'proof',
        AZURE_CLIENT_ID: 'mine',
      })();
      const [machine, service] = asked;
      expect(machine?.url).toBe(
        '/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fstorage.azure.com',
      );
      expect(machine?.headers['metadata']).toBe('true');
      expect(service?.url).toContain('/msi/token?api-version=2019-08-01');
      expect(service?.url).toContain('client_id=mine');
      expect(service?.headers['x-identity-header']).toBe('proof');
    });
  });

  it('asks again while the service is busy', async () => {
    await withService(
      (asked, response, count) => {
        if (count < 3) response.writeHead(count === 1 ? 503 : 429).end();
        else grant(asked, response);
      },
      async (endpoint, asked) => {
        await azureIdentity(domain, { AZURE_POD_IDENTITY_AUTHORITY_HOST: endpoint })();
        expect(asked).toHaveLength(3);
      },
    );
  });

  it('says what the directory said, and no secret', async () => {
    await withService(
      (_, response) =>
        response
          .writeHead(401)
          .end(
            JSON.stringify({ error: 'invalid_client', error_description: 'AADSTS7000215: wrong.\r\nTrace' }),
          ),
      async (endpoint) => {
        const identity = azureIdentity(domain, {
          AZURE_TENANT_ID: 'tenant',
          AZURE_CLIENT_ID: 'client',
          AZURE_CLIENT_SECRET: 'a secret',
          AZURE_AUTHORITY_HOST: endpoint,
        });
        await expect(identity()).rejects.toMatchObject({
          kind: 'forbidden',
          message: 'the directory answered 401: invalid_client: AADSTS7000215: wrong.',
        });
      },
    );
  });
});
