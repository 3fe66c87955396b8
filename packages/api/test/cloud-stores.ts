import { randomBytes } from 'node:crypto';
import type { BlockStoreConfig } from '@svc/block';
import { createAzureContainer, createGcsBucket, testServerOrSkip } from '@svc/testing';
import { createBucket } from './s3-bucket.ts';

/** What a store says when it refuses. */
interface Said {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

/** A kind of store on a server of the tests. */
export interface CloudStore {
  readonly name: string;
  readonly endpoint: string;
  /** `silenceMs` is how long the store may say nothing; nothing is tried twice then. */
  config(endpoint: string, silenceMs?: number): BlockStoreConfig;
  /** Where a bucket, or container, of that name is. */
  place(bucket: string): string;
  createBucket(bucket: string): Promise<void>;
  /** What it says to one who it does not know, and to one whose clock is wrong. */
  readonly refusesKey: Said;
  readonly refusesClock: Said;
}

/** The stores of every kind that can be had here. */
export async function cloudStores(): Promise<CloudStore[]> {
  const stores = await Promise.all([s3(), azure(), gs()]);
  return stores.filter((store) => store !== undefined);
}

export function freshBucket(): string {
  return `svc-${randomBytes(6).toString('hex')}`;
}

function impatience(silenceMs: number | undefined): { maxRetries?: number } {
  return silenceMs === undefined ? {} : { maxRetries: 0 };
}

async function s3(): Promise<CloudStore | undefined> {
  const server = await testServerOrSkip('versitygw');
  if (server === undefined) return undefined;
  const { region, accessKeyId, secretAccessKey } = server;
  const credentials = { accessKeyId, secretAccessKey };
  const says = (code: string): Said => ({
    status: 403,
    body: `<Error><Code>${code}</Code><Message>not like this</Message></Error>`,
  });
  return {
    name: 's3',
    endpoint: server.endpoint,
    config: (endpoint, silenceMs) => ({
      type: 's3',
      endpoint,
      region,
      forcePathStyle: true,
      credentials,
      discoverBucketRegion: silenceMs === undefined,
      streamingChunkTimeoutMs: silenceMs,
      ...impatience(silenceMs),
    }),
    place: (bucket) => `s3://${bucket}`,
    createBucket: (bucket) => createBucket(server, bucket),
    refusesKey: says('InvalidAccessKeyId'),
    refusesClock: says('RequestTimeTooSkewed'),
  };
}

async function azure(): Promise<CloudStore | undefined> {
  const server = await testServerOrSkip('azurite');
  if (server === undefined) return undefined;
  const says = (code: string): Said => ({
    status: 403,
    body: '',
    headers: { 'x-ms-error-code': code },
  });
  return {
    name: 'azure',
    endpoint: server.endpoint,
    config: (endpoint, silenceMs) => ({
      type: 'azure',
      storageAccount: server.account,
      storageAccessKey: server.accountKey,
      testEndpointUrl: endpoint,
      tryTimeoutMs: silenceMs,
      ...impatience(silenceMs),
    }),
    place: (bucket) => `https://${server.account}.blob.core.windows.net/${bucket}`,
    createBucket: (bucket) => createAzureContainer(server, bucket),
    refusesKey: says('AuthenticationFailed'),
    refusesClock: says('AuthenticationFailed'),
  };
}

async function gs(): Promise<CloudStore | undefined> {
  const server = await testServerOrSkip('fake-gcs');
  if (server === undefined) return undefined;
  const says = (message: string): Said => ({ status: 401, body: JSON.stringify({ error: { message } }) });
  return {
    name: 'gs',
    endpoint: server.endpoint,
    config: (endpoint, silenceMs) => ({
      type: 'gs',
      endpoint,
      answerTimeoutMs: silenceMs,
      ...impatience(silenceMs),
    }),
    place: (bucket) => `gs://${bucket}`,
    createBucket: (bucket) => createGcsBucket(server, bucket),
    refusesKey: says('Invalid Credentials'),
    refusesClock: says('Token used too early'),
  };
}
