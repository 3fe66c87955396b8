import { startFaultProxy, testServerOrSkip } from '@svc/testing';
import { describe, it } from 'vitest';
import { azureNeeds, expectDocumented } from '../../../test/permissions.ts';
import { azureConfigFor, createContainer } from '../../../test/test-container.ts';
import { describeBlockAdapter } from '../../suite/index.ts';
import { openAzureAdapter } from './azure-adapter.ts';

const azurite = await testServerOrSkip('azurite');

if (azurite === undefined) {
  describe('block adapter azure', () => {
    it('is skipped: the server cannot be had here', ({ skip }) => skip());
  });
} else {
  const proxy = await startFaultProxy(azurite.endpoint, () => 'pass');
  describeBlockAdapter('azure on Azurite', async () => {
    const config = { ...azureConfigFor(azurite), testEndpointUrl: proxy.endpoint };
    const namespace = `${await createContainer(azurite)}/prefix`;
    const adapter = await openAzureAdapter(config);
    return { adapter, namespace, minPartSize: 1, keepsBackslashes: false, close: () => adapter.close() };
  });

  it('needs what the documentation names', async () => {
    await proxy.close();
    // Of pre-signed URLs without an account key.
    const delegation = 'Microsoft.Storage/storageAccounts/blobServices/generateUserDelegationKey/action';
    const named = /Microsoft\.Storage\/storageAccounts\/blobServices\/[\w/]+/g;
    expectDocumented('azure.md', named, proxy.seen, azureNeeds, [delegation]);
  });
}
