import { Agent } from 'node:http';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminKey, composeGateway, domain, type TestGateway } from './compose.ts';
import { oddNames, pseudoRandom } from './sample-tree.ts';

let gateway: TestGateway;
let s3: S3Client;
const Bucket = 'repo';
const loopback = { address: '127.0.0.1', family: 4 };

beforeAll(async () => {
  gateway = await composeGateway();
  await gateway.createRepository(Bucket);
  s3 = new S3Client({
    endpoint: gateway.endpoint,
    region: 'us-east-1',
    credentials: adminKey,
    forcePathStyle: true,
    maxAttempts: 1,
  });
});
afterAll(async () => {
  s3.destroy();
  await gateway.close();
});

const read = async (Key: string, Range?: string): Promise<Buffer> => {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, Range }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
};

describe('the AWS SDK for JavaScript', () => {
  it('sees buckets', async () => {
    const { Buckets, Owner } = await s3.send(new ListBucketsCommand({}));
    expect(Buckets?.map((bucket) => bucket.Name)).toEqual([Bucket]);
    expect(Owner?.ID).toBe('admin');
    await s3.send(new HeadBucketCommand({ Bucket }));
    expect((await s3.send(new GetBucketLocationCommand({ Bucket }))).LocationConstraint).toBeUndefined();
  });

  it('writes buffers and streams with every checksum', async () => {
    const body = pseudoRandom(3_000_000, 'sdk');
    for (const ChecksumAlgorithm of ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const)
      for (const [name, Body] of [
        ['buffer', body],
        ['small', body.subarray(0, 1000)],
        ['stream', Readable.from([body.subarray(0, 1_000_000), body.subarray(1_000_000)])],
      ] as const) {
        const Key = `main/${ChecksumAlgorithm}/${name}`;
        const ContentLength = Buffer.isBuffer(Body) ? undefined : body.length;
        await s3.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength, ChecksumAlgorithm }));
        expect((await read(Key)).equals(name === 'small' ? body.subarray(0, 1000) : body)).toBe(true);
      }
    expect((await read('main/CRC32/stream', 'bytes=5-9')).equals(body.subarray(5, 10))).toBe(true);
  });

  it('keeps odd keys, lists them in pages and deletes them', async () => {
    const keys = [...oddNames, 'dir/', 'x//y'].map((name) => `main/odd/${name}`);
    for (const Key of keys) await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    const found: string[] = [];
    for await (const page of paginateListObjectsV2(
      { client: s3, pageSize: 3 },
      { Bucket, Prefix: 'main/odd/' },
    ))
      for (const item of page.Contents ?? []) found.push(item.Key ?? '');
    expect(found.sort()).toEqual([...keys].sort());
    for (const Key of keys) expect((await read(Key)).toString()).toBe(Key);
    const { Deleted, Errors } = await s3.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })) } }),
    );
    expect(Errors).toBeUndefined();
    expect(Deleted?.map((item) => item.Key)).toEqual(keys);
  });

  it('uploads in parts, copies parts, lists and aborts', async () => {
    const first = pseudoRandom(5 * 1024 * 1024, 'part');
    const Key = 'main/multi part';
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key, ContentType: 'a/b' }));
    const one = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: first }));
    await s3.send(new PutObjectCommand({ Bucket, Key: 'main/source', Body: 'tail' }));
    const two = await s3.send(
      new UploadPartCopyCommand({
        Bucket,
        Key,
        UploadId,
        PartNumber: 2,
        CopySource: `${Bucket}/main/source`,
      }),
    );
    const { Parts } = await s3.send(new ListPartsCommand({ Bucket, Key, UploadId }));
    expect(Parts?.map((part) => part.Size)).toEqual([first.length, 4]);
    await s3.send(
      new CompleteMultipartUploadCommand({
        Bucket,
        Key,
        UploadId,
        MultipartUpload: {
          Parts: [
            { PartNumber: 1, ETag: one.ETag },
            { PartNumber: 2, ETag: two.CopyPartResult?.ETag },
          ],
        },
      }),
    );
    expect((await read(Key)).equals(Buffer.concat([first, Buffer.from('tail')]))).toBe(true);
    const dangling = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'main/dangling' }));
    const { Uploads } = await s3.send(new ListMultipartUploadsCommand({ Bucket, Prefix: 'main/dang' }));
    expect(Uploads?.map((upload) => [upload.Key, upload.UploadId])).toEqual([
      ['main/dangling', dangling.UploadId],
    ]);
    await s3.send(
      new AbortMultipartUploadCommand({ Bucket, Key: 'main/dangling', UploadId: dangling.UploadId }),
    );
  });

  it('copies, reads metadata and tags, and understands errors', async () => {
    const Metadata = { color: 'blue' };
    await s3.send(
      new PutObjectCommand({ Bucket, Key: 'main/from', Body: 'x', Metadata, CacheControl: 'no-store' }),
    );
    await s3.send(new CopyObjectCommand({ Bucket, Key: 'main/to', CopySource: `${Bucket}/main/from` }));
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'main/to' }));
    expect(head).toMatchObject({ Metadata, CacheControl: 'no-store', ContentLength: 1 });
    expect((await s3.send(new GetObjectTaggingCommand({ Bucket, Key: 'main/to' }))).TagSet).toEqual([]);
    await expect(read('main/none')).rejects.toMatchObject({ name: 'NoSuchKey' });
    await expect(
      s3.send(new PutObjectCommand({ Bucket, Key: 'main/to', Body: 'y', IfNoneMatch: '*' })),
    ).rejects.toMatchObject({ name: 'PreconditionFailed' });
  });

  it('presigns', async () => {
    const put = await getSignedUrl(
      s3,
      new PutObjectCommand({ Bucket, Key: 'main/pre signed', Metadata: { a: 'b' }, ContentType: 'a/b' }),
    );
    const stored = await fetch(put, { method: 'PUT', body: 'presigned', headers: { 'content-type': 'a/b' } });
    expect(stored.status).toBe(200);
    const got = await fetch(await getSignedUrl(s3, new GetObjectCommand({ Bucket, Key: 'main/pre signed' })));
    expect(await got.text()).toBe('presigned');
    expect(got.headers.get('x-amz-meta-a')).toBe('b');
  });

  it('addresses buckets as virtual hosts', async () => {
    const virtual = new S3Client({
      endpoint: `http://${domain}:${gateway.port}`,
      region: 'us-east-1',
      credentials: adminKey,
      maxAttempts: 1,
      // Sub-domains of localhost need not resolve on every machine.
      requestHandler: { httpAgent: new Agent({ lookup: (_host, _options, done) => done(null, [loopback]) }) },
    });
    try {
      await virtual.send(new PutObjectCommand({ Bucket, Key: 'main/virtual', Body: 'host' }));
      expect((await read('main/virtual')).toString()).toBe('host');
    } finally {
      virtual.destroy();
    }
  });
});
