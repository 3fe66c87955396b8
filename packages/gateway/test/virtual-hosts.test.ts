import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminKey, composeGateway, domain, type TestGateway } from './compose.ts';

/** Names `*.s3.svc.localhost`. */
const ca = readFileSync(join(import.meta.dirname, 'fixtures', 'localhost.cert.pem'));

let gateway: TestGateway;
let s3: S3Client;
/** Whom the client asked for, by TLS's own account. */
const hosts = new Set<string>();

beforeAll(async () => {
  gateway = await composeGateway({ tls: true });
  for (const name of ['first', 'second']) await gateway.createRepository(name);
  gateway.server.on('secureConnection', (socket: { servername?: string }) =>
    hosts.add(socket.servername ?? ''),
  );
  const httpsAgent = new Agent({
    ca,
    // Every name leads here: sub-domains of localhost need not resolve on every machine.
    lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  s3 = new S3Client({
    endpoint: `https://${domain}:${gateway.port}`,
    region: 'us-east-1',
    credentials: adminKey,
    maxAttempts: 1,
    requestHandler: { httpsAgent },
  });
});
afterAll(async () => {
  s3.destroy();
  await gateway.close();
});

/** The status of a GET under that name. */
function statusOf(target: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname } = new URL(`https://${host}`);
    request(
      { host: '127.0.0.1', port: gateway.port, path: target, headers: { host }, ca, servername: hostname },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode));
      },
    )
      .once('error', reject)
      .end();
  });
}

describe('virtual hosts over TLS with a wildcard certificate', () => {
  it('serve objects of every repository under its own name', async () => {
    for (const Bucket of ['first', 'second']) {
      await s3.send(new HeadBucketCommand({ Bucket }));
      for (const Key of ['main/plain', 'main/with space+plus', 'main/é/first'])
        await s3.send(new PutObjectCommand({ Bucket, Key, Body: `${Bucket} ${Key}` }));
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: 'main/with space+plus' }));
      expect(await Body?.transformToString()).toBe(`${Bucket} main/with space+plus`);
      const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'main/' }));
      expect(Contents?.map(({ Key }) => Key)).toEqual(['main/plain', 'main/with space+plus', 'main/é/first']);
    }
    expect([...hosts].toSorted()).toEqual([`first.${domain}`, `second.${domain}`]);
    const { Buckets } = await s3.send(new ListBucketsCommand({}));
    expect(Buckets?.map(({ Name }) => Name)).toEqual(['first', 'second']);
    expect(hosts).toContain(domain);
  });

  it('copy between repositories and delete', async () => {
    await s3.send(new PutObjectCommand({ Bucket: 'first', Key: 'main/source', Body: 'copied' }));
    await s3.send(
      new CopyObjectCommand({ Bucket: 'second', Key: 'main/target', CopySource: 'first/main/source' }),
    );
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'second', Key: 'main/target' }));
    expect(await Body?.transformToString()).toBe('copied');
    const Delete = { Objects: [{ Key: 'main/target' }] };
    const { Deleted } = await s3.send(new DeleteObjectsCommand({ Bucket: 'second', Delete }));
    expect(Deleted?.map(({ Key }) => Key)).toEqual(['main/target']);
    await expect(s3.send(new GetObjectCommand({ Bucket: 'second', Key: 'main/target' }))).rejects.toThrow(
      /does not exist/,
    );
  });

  it('sign links for the name of the repository', async () => {
    await s3.send(new PutObjectCommand({ Bucket: 'first', Key: 'main/linked', Body: 'linked' }));
    const link = new URL(
      await getSignedUrl(s3, new GetObjectCommand({ Bucket: 'first', Key: 'main/linked' })),
    );
    expect([link.host, link.pathname]).toEqual([`first.${domain}:${gateway.port}`, '/main/linked']);
    const target = `${link.pathname}${link.search}`;
    // The link names one repository: under the name of another one its signature is wrong.
    expect(await statusOf(target, link.host)).toBe(200);
    expect(await statusOf(target, `second.${domain}:${gateway.port}`)).toBe(403);
  });
});
