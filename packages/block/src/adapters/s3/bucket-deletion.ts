import type { StoreDeletion } from '../../adapter.ts';
import { resolveBucketPrefix } from '../../address.ts';
import { BlockError } from '../../errors.ts';
import { childText, parseXml } from '../../remote/xml.ts';
import type { S3Client } from './client.ts';

/** Whether the bucket keeps versions; a refusal, or a server that knows none, tells nothing. */
export async function bucketDeletion(client: S3Client, storageNamespace: string): Promise<StoreDeletion> {
  const { bucket } = resolveBucketPrefix('s3', storageNamespace);
  try {
    const response = await client.send({ method: 'GET', bucket, query: [['versioning', '']] });
    // Not every server gives the answer the name that it should have.
    const answer = parseXml(await response.body.text());
    return childText(answer, 'Status') === 'Enabled' ? 'versioned' : 'final';
  } catch (error) {
    if (error instanceof BlockError) return 'unknown';
    throw error;
  }
}
