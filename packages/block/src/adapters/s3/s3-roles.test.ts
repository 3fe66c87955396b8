import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withService } from '../../../test/identity-stub.ts';
import type { S3StoreConfig } from '../../config.ts';
import { openCredentials } from './credentials.ts';

const session = (
  seconds: number,
): string => `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAROLE</AccessKeyId>
<SecretAccessKey>role-secret</SecretAccessKey><SessionToken>role-token</SessionToken>
<Expiration>${new Date(Date.now() + seconds * 1000).toISOString()}</Expiration></Credentials>
<AssumedRoleUser><Arn>arn</Arn><AssumedRoleId>id</AssumedRoleId></AssumedRoleUser>
</AssumeRoleWithWebIdentityResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>
</AssumeRoleWithWebIdentityResponse>`;

describe('credentials of roles', () => {
  const folder = tempDir('svc-roles');

  beforeEach(() => {
    // Nothing of this machine may count.
    for (const name of [
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_PROFILE',
      'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    ])
      vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'none'));
    vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'));
    vi.stubEnv('AWS_REGION', 'us-east-1');
  });
  afterEach(() => vi.unstubAllEnvs());

  it('are exchanged for the token of a platform, for as long as configured', async () => {
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, 'token of the platform');
    await withService(
      (_, response) => response.writeHead(200, { 'content-type': 'text/xml' }).end(session(1200)),
      async (endpoint, asked) => {
        vi.stubEnv('AWS_ENDPOINT_URL_STS', endpoint);
        vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', tokenFile);
        vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/svc');
        const open = async (webIdentity: S3StoreConfig['webIdentity']) =>
          await openCredentials({ type: 's3', webIdentity });
        const renewed = await open({ sessionDurationMs: 1_800_000, sessionExpiryWindowMs: 600_000 });
        expect(await renewed.get()).toMatchObject({ accessKeyId: 'ASIAROLE', sessionToken: 'role-token' });
        const form = new URLSearchParams(asked[0]?.body);
        expect(Object.fromEntries(form)).toMatchObject({
          Action: 'AssumeRoleWithWebIdentity',
          RoleArn: 'arn:aws:iam::123456789012:role/svc',
          WebIdentityToken: 'token of the platform',
          DurationSeconds: '1800',
        });
        await renewed.get();
        expect(asked).toHaveLength(1);
        const eager = await open({ sessionExpiryWindowMs: 1_500_000 });
        await eager.get();
        await eager.get();
        // Its 20 minutes lie within the window: asked for again each time.
        expect(asked).toHaveLength(3);
        expect(new URLSearchParams(asked[1]?.body).has('DurationSeconds')).toBe(false);
      },
    );
  });

  it('come from the instance', async () => {
    const end = new Date(Date.now() + 3_600_000).toISOString();
    await withService(
      (asked, response) => {
        if (asked.url === '/latest/api/token') return void response.end('metadata-token');
        if (asked.url.endsWith('/security-credentials/')) return void response.end('the-role');
        const answer = { AccessKeyId: 'ASIAINSTANCE', SecretAccessKey: 's', Token: 't', Expiration: end };
        response.end(JSON.stringify({ Code: 'Success', ...answer }));
      },
      async (endpoint, asked) => {
        vi.stubEnv('AWS_EC2_METADATA_DISABLED', undefined);
        vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', endpoint);
        const source = await openCredentials({ type: 's3' });
        expect(await source.get()).toMatchObject({ accessKeyId: 'ASIAINSTANCE', sessionToken: 't' });
        const last = asked.at(-1);
        expect(last?.url).toBe('/latest/meta-data/iam/security-credentials/the-role');
        expect(last?.headers['x-aws-ec2-metadata-token']).toBe('metadata-token');
      },
    );
  });

  it('that nobody gives are a clear error', async () => {
    await withService(
      (_, response) => response.writeHead(404).end(),
      async (endpoint) => {
        vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', endpoint);
        const source = await openCredentials({ type: 's3' });
        await expect(Promise.resolve(source.get())).rejects.toMatchObject({
          kind: 'unavailable',
          message: expect.stringContaining('no credentials for the object store') as string,
        });
      },
    );
  });
});
