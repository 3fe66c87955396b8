import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { S3Server } from '@svc/testing';

export async function createBucket(server: S3Server, bucket: string): Promise<void> {
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
}
