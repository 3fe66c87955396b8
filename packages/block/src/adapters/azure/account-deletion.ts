import type { StoreDeletion } from '../../adapter.ts';
import { BlockError } from '../../errors.ts';
import { childOf, childText, requireXml } from '../../remote/xml.ts';
import type { AzureClient } from './client.ts';

/** Whether the account keeps deleted blobs. Whether it keeps versions, this service does not tell. */
export async function accountDeletion(client: AzureClient, account: string): Promise<StoreDeletion> {
  const query: [string, string][] = [
    ['restype', 'service'],
    ['comp', 'properties'],
  ];
  try {
    const response = await client.send({ method: 'GET', place: { account }, query });
    const answer = requireXml(await response.body.text(), 'StorageServiceProperties');
    const policy = childOf(answer, 'DeleteRetentionPolicy');
    return childText(policy, 'Enabled') === 'true' ? 'soft' : 'unknown';
  } catch (error) {
    if (error instanceof BlockError) return 'unknown';
    throw error;
  }
}
