import { randomBytes } from 'node:crypto';
import type { S3Server } from '@svc/testing';
import { S3Client } from '../src/adapters/s3/client.ts';
import { openCredentials } from '../src/adapters/s3/credentials.ts';
import type { S3StoreConfig } from '../src/config.ts';

/** The configuration of a store on a test server. */
export function s3ConfigFor(server: S3Server): S3StoreConfig {
  return {
    type: 's3',
    endpoint: server.endpoint,
    region: server.region,
    forcePathStyle: true,
    credentials: { accessKeyId: server.accessKeyId, secretAccessKey: server.secretAccessKey },
  };
}

/** A bucket no other test uses. */
export async function createBucket(config: S3StoreConfig): Promise<string> {
  const bucket = `svc-${randomBytes(6).toString('hex')}`;
  const client = new S3Client(config, await openCredentials(config), undefined);
  const response = await client.send({ method: 'PUT', bucket });
  await response.body.dump();
  await client.close();
  return bucket;
}
