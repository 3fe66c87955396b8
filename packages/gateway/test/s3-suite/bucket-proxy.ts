import { hash } from 'node:crypto';
import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDigest } from '@svc/engine';
import { checksumHeader, isChecksumAlgorithm } from '../../src/body/checksums.ts';
import { adminKey, domain, type TestGateway } from '../compose.ts';
import { headerOf, signAgain, splitTarget, type WireRequest } from './re-sign.ts';

const branch = 'main/';

export interface BucketProxy {
  readonly endpoint: string;
  close(): Promise<void>;
}

/**
 * Shows a gateway as an ordinary S3 server, for suites that know nothing of branches: a bucket is a repository whose
 * name begins with `names`, and a key lies below `main/`. Everything else passes as it is, mistakes included.
 */
export async function startBucketProxy(gateway: TestGateway, names: string): Promise<BucketProxy> {
  const server = createServer({ requestTimeout: 0, maxHeaderSize: 1024 * 1024 }, (message, response) => {
    handle(gateway, names, message, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function handle(
  gateway: TestGateway,
  names: string,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const original: WireRequest = {
    method: message.method ?? '',
    target: message.url ?? '',
    headers: pairs(message.rawHeaders),
    body: Buffer.concat(chunks),
  };
  const { path, query } = splitTarget(original.target);
  const [, shown = '', ...rest] = path.split('/');
  const bucket = shown === '' ? '' : names + shown;
  const key = rest.join('/');
  if (bucket !== '' && key === '' && query.replace(/^x-id=\w+$/, '') === '') {
    const answered = await changeBucket(gateway, original, bucket, response);
    if (answered) return;
  }
  const mapped = signAgain(original, mapRequest(original, names, bucket, key), (id) =>
    id === adminKey.accessKeyId ? adminKey.secretAccessKey : undefined,
  );
  const isData =
    key !== '' && original.method === 'GET' && !/(?:^|&)(?:uploadId|tagging|attributes|acl)\b/.test(query);
  await forward(gateway.port, names, mapped, headerOf(original, 'host') ?? '', response, isData);
}

/** Making and removing a repository takes more than a bucket's name, so it is done here. */
async function changeBucket(
  { engine, ...gateway }: TestGateway,
  { method }: WireRequest,
  bucket: string,
  response: ServerResponse,
): Promise<boolean> {
  const exists = await engine.repositories.get(bucket).then(
    () => true,
    () => false,
  );
  if (method === 'PUT' && !exists && /^[a-z0-9][a-z0-9-]{2,62}$/.test(bucket)) {
    await gateway.createRepository(bucket);
    response.writeHead(200, { Location: `/${bucket}` }).end();
    return true;
  }
  if (method === 'DELETE' && exists) {
    await engine.repositories.delete({ repository: bucket, actor: { committer: 'admin' } });
    response.writeHead(204).end();
    return true;
  }
  return false;
}

function mapRequest(original: WireRequest, names: string, bucket: string, key: string): WireRequest {
  const { query } = splitTarget(original.target);
  const isListing = original.method === 'GET' && bucket !== '' && key === '';
  if (original.method === 'GET' && bucket === '') return ofOwnBuckets(original, names);
  const target =
    key === ''
      ? `/${bucket}${isListing ? `?${mapListing(query)}` : query === '' ? '' : `?${query}`}`
      : `/${bucket}/${branch}${key}${query === '' ? '' : `?${query}`}`;
  const body =
    original.method === 'POST' && key === '' && /(?:^|&)delete\b/.test(query)
      ? Buffer.from(original.body.toString().replaceAll('<Key>', `<Key>${branch}`))
      : original.body;
  return {
    method: original.method,
    target,
    headers: original.headers.map(([name, value]) => [
      name,
      mapHeader(name.toLowerCase(), value, names, original.body, body),
    ]),
    body,
  };
}

/** Other cases run at the same time: each sees the buckets of its own. */
function ofOwnBuckets(original: WireRequest, names: string): WireRequest {
  const { path, query } = splitTarget(original.target);
  const others = query.split('&').filter((item) => item !== '' && !item.startsWith('prefix='));
  const prefix = query.split('&').find((item) => item.startsWith('prefix=')) ?? 'prefix=';
  return {
    ...original,
    target: `${path}?${[...others, prefix.replace('=', `=${names}`)].join('&')}`,
    headers: original.headers.map(([name, value]) => [name, name.toLowerCase() === 'host' ? domain : value]),
  };
}

/** A listing of a repository's root would list branches. */
function mapListing(query: string): string {
  const other =
    /(?:^|&)(acl|cors|encryption|lifecycle|location|policy|policyStatus|tagging|versioning|website|logging|notification|object-lock|ownershipControls|publicAccessBlock|replication|requestPayment|accelerate|analytics|inventory|metrics|intelligent-tiering|versions)\b/;
  if (other.test(query)) return query;
  let hasPrefix = false;
  const items = query.split('&').map((item) => {
    const [name = '', value = ''] = item.split('=', 2);
    if (name === 'prefix') {
      hasPrefix = true;
      return `prefix=main%2F${value}`;
    }
    const isMarker = name === 'marker' || name === 'start-after' || name === 'key-marker';
    return isMarker && value !== '' ? `${name}=main%2F${value}` : item;
  });
  if (!hasPrefix) items.push('prefix=main%2F');
  return items.filter((item) => item !== '').join('&');
}

function mapHeader(name: string, value: string, names: string, before: Buffer, after: Buffer): string {
  if (name === 'x-amz-copy-source') {
    const [, slash = '', bucket = '', key] = /^(\/?)([^/]*)\/(.*)$/s.exec(value) ?? [];
    return key === undefined || key === '' || bucket === ''
      ? value
      : `${slash}${names}${bucket}/${branch}${key}`;
  }
  // Requests without a signature are the gateway's, too, by this name.
  if (name === 'host') return domain;
  if (before === after) return value;
  if (name === 'content-length') return String(after.length);
  if (name === 'x-amz-content-sha256')
    return value === hash('sha256', before, 'hex') ? hash('sha256', after, 'hex') : value;
  if (name === 'content-md5')
    return value === hash('md5', before, 'base64') ? hash('md5', after, 'base64') : value;
  const algorithm = name.slice(checksumHeader('md5').length - 'md5'.length);
  if (name.startsWith('x-amz-checksum-') && isChecksumAlgorithm(algorithm) && algorithm !== 'md5') {
    const digestOf = (body: Buffer): string => {
      const digest = createDigest(algorithm);
      digest.update(body);
      return digest.digest().toString('base64');
    };
    return value === digestOf(before) ? digestOf(after) : value;
  }
  return value;
}

function forward(
  port: number,
  names: string,
  mapped: WireRequest,
  host: string,
  response: ServerResponse,
  isData: boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = mapped.headers
      .filter(([name]) => !['connection', 'transfer-encoding', 'expect'].includes(name.toLowerCase()))
      .flatMap(([name, value]) => [name, value]);
    if (headerOf(mapped, 'content-length') === undefined && mapped.body.length > 0)
      headers.push('Transfer-Encoding', 'chunked');
    const outgoing = sendRequest(
      {
        host: '127.0.0.1',
        port,
        method: mapped.method,
        path: mapped.target,
        headers,
        setHost: false,
        agent: false,
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const body = Buffer.concat(chunks);
          const isXml = (incoming.headers['content-type'] ?? '').includes('xml');
          const shown =
            isXml && !(isData && (incoming.statusCode ?? 0) < 300) ? asShown(body, names, host) : body;
          const sent = pairs(incoming.rawHeaders)
            .filter(([name]) => !/^(?:connection|keep-alive|transfer-encoding)$/i.test(name))
            .flatMap(([name, value]) => [
              name,
              /^content-length$/i.test(name) && mapped.method !== 'HEAD' ? String(shown.length) : value,
            ]);
          response.writeHead(incoming.statusCode ?? 500, sent);
          response.end(shown);
          resolve();
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(mapped.body);
  });
}

/** Names of repositories and branches as the suite knows them. */
function asShown(body: Buffer, names: string, host: string): Buffer {
  return Buffer.from(
    body
      .toString()
      .replaceAll(
        /<(Key|Prefix|Marker|NextMarker|StartAfter|KeyMarker|NextKeyMarker)>main(?:\/|%2F)/g,
        '<$1>',
      )
      .replaceAll(/<Location>http:\/\/[^/]+(\/[^/]+\/)main\//g, `<Location>http://${host}$1`)
      .replaceAll(/(<(?:ID|DisplayName)>)admin</g, `$1${adminKey.accessKeyId}<`)
      .replaceAll(names, '')
      .replace('<Prefix></Prefix></ListAllMyBucketsResult>', '</ListAllMyBucketsResult>'),
  );
}

function pairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] ?? '', raw[2 * i + 1] ?? '']);
}
