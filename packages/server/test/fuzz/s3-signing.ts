import { createHmac, hash } from 'node:crypto';
import {
  canonicalQuery,
  canonicalUri,
  presignQuery,
  signRequest,
  SigningKeyCache,
  type ChunkSigner,
  type SigningContext,
} from '@svc/encoding';
import type { Key } from './callers.ts';

/** What is to be signed. */
export interface S3Unsigned {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly host: string;
  /** Named by the host. */
  readonly bucket?: string | undefined;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payloadHash: string;
  readonly now: Date;
}

export interface S3Signed {
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** For the chunks of a streaming payload. */
  readonly chunkSigner?: ChunkSigner;
}

const keys = new SigningKeyCache();

function context(key: Key, now: Date): SigningContext {
  return { credentials: key, region: 'us-east-1', service: 's3', now, keys };
}

export function signV4(request: S3Unsigned, key: Key): S3Signed {
  const { headers, chunkSigner } = signRequest(
    {
      method: request.method,
      path: canonicalUri(request.path),
      query: canonicalQuery(request.query),
      headers: { host: request.host, ...request.headers },
      payloadHash: request.payloadHash,
    },
    context(key, request.now),
  );
  return { query: request.query, headers, chunkSigner };
}

/** Only the host is signed besides, so headers of S3 must not be added. */
export function presignV4(request: S3Unsigned, key: Key, expiresSeconds: number): S3Signed {
  const pairs = request.query
    .split('&')
    .filter((item) => item !== '')
    .map((item): [string, string] => {
      const [name = '', value = ''] = item.split('=', 2);
      return [decoded(name), decoded(value)];
    });
  const query = presignQuery(
    {
      method: request.method,
      host: request.host,
      path: canonicalUri(request.path),
      query: pairs,
      expiresSeconds,
    },
    context(key, request.now),
  );
  return { query, headers: { host: request.host } };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const subResources = new Set(
  (
    'acl cors delete lifecycle location logging notification partNumber policy requestPayment restore tagging torrent ' +
    'uploadId uploads versionId versioning versions website response-cache-control response-content-disposition ' +
    'response-content-encoding response-content-language response-content-type response-expires'
  ).split(' '),
);

function v2Resource(request: S3Unsigned): string {
  const listed = request.query
    .split('&')
    .filter((item) => subResources.has(item.split('=')[0] ?? ''))
    .map((item) => decoded(item).replace(/=$/, ''))
    .sort();
  const bucket = request.bucket === undefined ? '' : `/${request.bucket}`;
  return `${bucket}${request.path}${listed.length === 0 ? '' : `?${listed.join('&')}`}`;
}

function v2Signature(request: S3Unsigned, key: Key, date: string): string {
  const amz = Object.keys(request.headers)
    .filter((name) => name.startsWith('x-amz-'))
    .sort()
    .map((name) => `${name}:${request.headers[name] ?? ''}\n`)
    .join('');
  const text =
    `${request.method}\n${request.headers['content-md5'] ?? ''}\n${request.headers['content-type'] ?? ''}\n${date}\n` +
    amz +
    v2Resource(request);
  return createHmac('sha1', key.secretAccessKey).update(text, 'latin1').digest('base64');
}

export function signV2(request: S3Unsigned, key: Key): S3Signed {
  const date = request.now.toUTCString();
  const authorization = `AWS ${key.accessKeyId}:${v2Signature(request, key, date)}`;
  return { query: request.query, headers: { host: request.host, ...request.headers, date, authorization } };
}

export function presignV2(request: S3Unsigned, key: Key, expiresSeconds: number): S3Signed {
  const expires = String(Math.floor(request.now.getTime() / 1000) + expiresSeconds);
  const proof = new URLSearchParams({
    AWSAccessKeyId: key.accessKeyId,
    Expires: expires,
    Signature: v2Signature(request, key, expires),
  });
  const query = request.query === '' ? String(proof) : `${request.query}&${proof.toString()}`;
  return { query, headers: { host: request.host, ...request.headers } };
}

/** The body in signed chunks of S3; `lie` says in which way they are not as signed. */
export function signedChunks(
  signer: ChunkSigner,
  body: Buffer,
  lie: 'none' | 'data' | 'signature' | 'size' | 'end',
): Buffer {
  const pieces: Buffer[] = [];
  const half = Math.ceil(body.length / 2);
  for (const piece of [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0)) {
    const signature = signer.chunk(hash('sha256', piece));
    const shown =
      lie === 'signature' ? signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) : signature;
    const size = (lie === 'size' ? piece.length + 1 : piece.length).toString(16);
    const data = lie === 'data' ? Buffer.alloc(piece.length, 0x21) : piece;
    pieces.push(Buffer.from(`${size};chunk-signature=${shown}\r\n`), data, Buffer.from('\r\n'));
  }
  const last = signer.chunk(hash('sha256', ''));
  if (lie !== 'end') pieces.push(Buffer.from(`0;chunk-signature=${last}\r\n\r\n`));
  return Buffer.concat(pieces);
}
