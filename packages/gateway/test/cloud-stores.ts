import type { BlockStoreConfig } from '@svc/block';
import { createAzureContainer, createGcsBucket, testServerOrSkip } from '@svc/testing';

/** A block store on Azure's emulator; undefined, with a message, where it is not available. */
export async function azureStore(): Promise<BlockStoreConfig | undefined> {
  const server = await testServerOrSkip('azurite');
  if (server === undefined) return undefined;
  await createAzureContainer(server, 'svc-gateway-tests');
  const { account, accountKey, endpoint } = server;
  return { type: 'azure', storageAccount: account, storageAccessKey: accountKey, testEndpointUrl: endpoint };
}

/** The same on a server of the Google Cloud Storage API. */
export async function gsStore(): Promise<BlockStoreConfig | undefined> {
  const server = await testServerOrSkip('fake-gcs');
  if (server === undefined) return undefined;
  await createGcsBucket(server, 'svc-gateway-tests');
  return { type: 'gs', endpoint: server.endpoint };
}
