import { createHmac } from 'node:crypto';
import type { AzureServer, GcsServer } from '../test-server.ts';

/** A container of the server's first account; one that is there already is left as it is. */
export async function createAzureContainer(
  server: Pick<AzureServer, 'endpoint' | 'account' | 'accountKey'>,
  container: string,
): Promise<void> {
  const { endpoint, account, accountKey } = server;
  const date = new Date().toUTCString();
  const path = `/${account}/${container}`;
  const text = `PUT${'\n'.repeat(12)}x-ms-date:${date}\nx-ms-version:2023-11-03\n/${account}${path}\nrestype:container`;
  const signature = createHmac('sha256', Buffer.from(accountKey, 'base64')).update(text).digest('base64');
  const response = await fetch(`${endpoint}${path}?restype=container`, {
    method: 'PUT',
    headers: {
      'x-ms-date': date,
      'x-ms-version': '2023-11-03',
      authorization: `SharedKey ${account}:${signature}`,
    },
  });
  await requireCreated(response, container);
}

/** A bucket; one that is there already is left as it is. */
export async function createGcsBucket(server: Pick<GcsServer, 'endpoint'>, bucket: string): Promise<void> {
  const response = await fetch(`${server.endpoint}/storage/v1/b`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: bucket }),
  });
  await requireCreated(response, bucket);
}

async function requireCreated(response: Response, name: string): Promise<void> {
  const answer = await response.text();
  if (!response.ok && response.status !== 409)
    throw new Error(`${name} was not created: ${response.status} ${answer}`);
}
