import { testServerOrSkip } from '@svc/testing';
import { describe, it } from 'vitest';
import { azureConfigFor, createContainer } from '../../../test/test-container.ts';
import { describeBlockAdapter } from '../../suite/index.ts';
import { openAzureAdapter } from './azure-adapter.ts';

const azurite = await testServerOrSkip('azurite');

if (azurite === undefined) {
  describe('block adapter azure', () => {
    it('is skipped: the server cannot be had here', ({ skip }) => skip());
  });
} else {
  describeBlockAdapter('azure on Azurite', async () => {
    const config = azureConfigFor(azurite);
    const namespace = `${await createContainer(azurite)}/prefix`;
    const adapter = await openAzureAdapter(config);
    return { adapter, namespace, minPartSize: 1, keepsBackslashes: false, close: () => adapter.close() };
  });
}
