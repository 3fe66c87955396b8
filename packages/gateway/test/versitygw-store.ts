import {
  BucketAlreadyExists,
  BucketAlreadyOwnedByYou,
  CreateBucketCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { BlockStoreConfig } from '@svc/block';
import { testServerOrSkip } from '@svc/testing';

/** A block store on the shared S3 server; undefined, with a message, where the server is not available. */
export async function versitygwStore(): Promise<BlockStoreConfig | undefined> {
  const server = await testServerOrSkip('versitygw');
  if (server === undefined) return undefined;
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: 'svc-gateway-tests' })).catch((error: unknown) => {
    const isThere = error instanceof BucketAlreadyOwnedByYou || error instanceof BucketAlreadyExists;
    if (!isThere) throw error;
  });
  client.destroy();
  return { type: 's3', endpoint, region, credentials, forcePathStyle: true };
}
