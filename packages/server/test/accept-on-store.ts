import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { namedStoreVariable, type NamedStore } from '@svc/block/named-store';
import { createAzureContainer, createGcsBucket, testServerOrSkip } from '@svc/testing';
import { expect } from 'vitest';

const root = join(import.meta.dirname, '../../..');
/** The gateway's suites put their repositories there. */
const bucket = 'svc-gateway-tests';

/** The stores of every kind that can be had here, by the name of their server. */
export const cloudStores: Readonly<Record<string, () => Promise<NamedStore | undefined>>> = {
  async versitygw() {
    const server = await testServerOrSkip('versitygw');
    if (server === undefined) return undefined;
    const { endpoint, region, accessKeyId, secretAccessKey } = server;
    const config = {
      type: 's3',
      endpoint,
      region,
      credentials: { accessKeyId, secretAccessKey },
      forcePathStyle: true,
    } as const;
    const client = new S3Client(config);
    // It may be there already.
    await client.send(new CreateBucketCommand({ Bucket: bucket })).catch(() => undefined);
    client.destroy();
    return { config, place: `s3://${bucket}` };
  },
  async Azurite() {
    const server = await testServerOrSkip('azurite');
    if (server === undefined) return undefined;
    await createAzureContainer(server, bucket);
    const { account, accountKey, endpoint } = server;
    return {
      config: {
        type: 'azure',
        storageAccount: account,
        storageAccessKey: accountKey,
        testEndpointUrl: endpoint,
      },
      place: `https://${account}.blob.core.windows.net/${bucket}`,
    };
  },
  async 'fake-gcs-server'() {
    const server = await testServerOrSkip('fake-gcs');
    if (server === undefined) return undefined;
    await createGcsBucket(server, bucket);
    return { config: { type: 'gs', endpoint: server.endpoint }, place: `gs://${bucket}` };
  },
};

/** Runs suites that are written for a store in memory or on disk on another one; fails with what they say. */
export async function acceptOnStore(store: NamedStore, suites: readonly string[]): Promise<void> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--project', 'fast', '--reporter', 'default', '--testTimeout', '120000', ...suites],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, [namedStoreVariable]: JSON.stringify(store), SVC_TEST_LONG: '', NO_COLOR: '1' },
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, output.slice(-20_000)).toBe(0);
  expect(output).toMatch(/Tests {2}\d+ passed/);
}
