import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BlockAdapter, ObjectPointer } from '../src/adapter.ts';
import type { S3StoreConfig } from '../src/config.ts';
import { openS3Adapter } from '../src/adapters/s3/s3-adapter.ts';

export const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'very-secret' };

export const at = (identifier: string, bucket = 'bucket'): ObjectPointer => ({
  storageNamespace: `s3://${bucket}/ns`,
  identifier,
  identifierType: 'relative',
});

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A store that answers as a test says, for what no real server does on demand: failing, stalling, redirecting. */
export async function withStub(
  answer: (request: Seen, response: ServerResponse, count: number) => void,
  config: Partial<S3StoreConfig>,
  use: (adapter: BlockAdapter, seen: Seen[], config: S3StoreConfig) => Promise<void>,
): Promise<void> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    // The adapter ends requests on purpose.
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const entry = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
      };
      seen.push(entry);
      answer(entry, response, seen.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const whole: S3StoreConfig = {
    type: 's3',
    endpoint: `http://127.0.0.1:${port}`,
    forcePathStyle: true,
    discoverBucketRegion: false,
    credentials,
    ...config,
  };
  const adapter = await openS3Adapter(whole);
  try {
    await use(adapter, seen, whole);
  } finally {
    await adapter.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

export const refuse = (response: ServerResponse, status: number, code: string, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/xml', ...headers });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>told so</Message></Error>`);
};
export const accept = (response: ServerResponse): void => void response.writeHead(200, { etag: '"e"' }).end();
