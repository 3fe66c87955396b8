import { randomBytes } from 'node:crypto';
import { createAzureContainer, type AzureServer } from '@svc/testing';
import type { AzureStoreConfig } from '../src/config.ts';

type Server = Pick<AzureServer, 'endpoint' | 'account' | 'accountKey'>;

/** The configuration of a store on a test server. */
export function azureConfigFor(server: Server): AzureStoreConfig {
  return {
    type: 'azure',
    storageAccount: server.account,
    storageAccessKey: server.accountKey,
    testEndpointUrl: server.endpoint,
  };
}

/** The namespace of a container no other test uses. */
export async function createContainer(server: Server): Promise<string> {
  const container = `svc-${randomBytes(6).toString('hex')}`;
  await createAzureContainer(server, container);
  return `https://${server.account}.blob.core.windows.net/${container}`;
}
