import { hash } from 'node:crypto';
import { unsignedPayload } from '@svc/encoding';
import type { Caller } from './callers.ts';
import type { Framing, FuzzRequest } from './fuzz-request.ts';
import { hostileEncodings, hostileTexts } from './hostile-values.ts';
import { secretPath, type Facts } from './known-values.ts';
import type { Random } from './random.ts';
import { completeDocument, deleteDocument, objectHeaders, taggingDocument } from './s3-bodies.ts';
import { s3Operations, type S3Operation } from './s3-operations.ts';
import {
  presignV2,
  presignV4,
  signedChunks,
  signV2,
  signV4,
  type S3Signed,
  type S3Unsigned,
} from './s3-signing.ts';

export const gatewayDomain = 's3.svc.localhost';

/** A request of the S3 gateway. */
export function s3Request(random: Random, caller: Caller, facts: Facts, host: string): FuzzRequest {
  const operation = random.pick(s3Operations);
  const { path, virtualHost, hosted } = pathOf(random, operation, caller, host);
  const body = Buffer.from(bodyOf(random, operation));
  const headers: Record<string, string> =
    operation.shape === 'service' ? {} : objectHeaders(random, operation.method);
  if (operation.body === 'delete' && random.chance(0.9)) headers['content-md5'] = hash('md5', body, 'base64');
  if (operation.copies === true) headers['x-amz-copy-source'] = copySource(random, caller);
  const unsigned: S3Unsigned = {
    method: operation.method,
    path,
    query: operation.query?.(random, facts.uploads) ?? '',
    host: virtualHost,
    bucket: hosted,
    headers,
    payloadHash: hash('sha256', body),
    now: new Date(),
  };
  return signedRequest(random, caller, operation, unsigned, body);
}

function bodyOf(random: Random, { body }: S3Operation): string {
  if (body === 'object')
    return random.pick([
      '',
      'x',
      'some data',
      'y'.repeat(random.below(40_000)),
      '<html><script>1</script></html>',
    ]);
  if (body === 'delete') return deleteDocument(random);
  if (body === 'complete') return completeDocument(random);
  if (body === 'tagging') return taggingDocument(random);
  return random.chance(0.02) ? 'unexpected' : '';
}

function pathOf(
  random: Random,
  operation: S3Operation,
  caller: Caller,
  host: string,
): { readonly path: string; readonly virtualHost: string; readonly hosted?: string } {
  if (operation.shape === 'service')
    return { path: random.pick(['/', '/', '//', '/?']).replace('?', ''), virtualHost: host };
  const bucket = random.chance(0.92)
    ? random.pick(['fuzz-one', 'fuzz-one', 'fuzz-two'])
    : hostileSegment(random);
  const ref = random.chance(0.92)
    ? random.pick(['main', 'main', 'dev', 'v1', 'main~1', 'main$'])
    : hostileSegment(random);
  const keys = ['a', 'dir/b', 'none', 'copy', 'html', ...(caller.readsSecret ? [] : [secretPath])];
  const key = random.chance(0.88) ? random.pick(keys) : hostileSegment(random);
  const inside = operation.shape === 'bucket' ? '' : `/${ref}/${key}`;
  if (random.chance(0.1) && /^[a-z-]+$/.test(bucket)) {
    const port = host.slice(host.lastIndexOf(':'));
    return {
      path: inside === '' ? '/' : inside,
      virtualHost: `${bucket}.${gatewayDomain}${port}`,
      hosted: bucket,
    };
  }
  return {
    path: `/${bucket}${inside}${operation.shape === 'bucket' && random.chance(0.3) ? '/' : ''}`,
    virtualHost: host,
  };
}

function hostileSegment(random: Random): string {
  if (random.chance(0.3)) return random.pick(hostileEncodings);
  return encodeURIComponent(random.pick(hostileTexts)).slice(0, 6000);
}

function copySource(random: Random, caller: Caller): string {
  const sources = [
    '/fuzz-one/main/a',
    'fuzz-two/dev/dir%2Fb',
    'fuzz-one/main/none',
    '/fuzz-one/v1/a?versionId=null',
  ];
  const wrong = [
    '',
    '/',
    'x',
    '/fuzz-one',
    '/fuzz-one/main',
    '/none/main/a',
    '%zz',
    '/fuzz-one/main/%ff',
    'arn:aws:s3:x',
    '/fuzz-one/main/..%2f',
  ];
  if (!caller.readsSecret && random.chance(0.3)) return `/fuzz-one/main/${secretPath}`;
  return random.pick(random.chance(0.8) ? sources : wrong);
}

function signedRequest(
  random: Random,
  caller: Caller,
  operation: S3Operation,
  unsigned: S3Unsigned,
  body: Buffer,
): FuzzRequest {
  const { key } = caller;
  if (key === undefined) return withoutKey(random, caller, operation, unsigned, body);
  const way = random.below(100);
  if (operation.body === 'object' && operation.method === 'PUT' && way < 20)
    return chunkedRequest(random, operation, unsigned, body, key, way < 12);
  const breaks = random.chance(0.12);
  const now = breaks && random.chance(0.2) ? new Date(Date.now() - 3_600_000) : unsigned.now;
  const late = now !== unsigned.now;
  let signed: S3Signed;
  if (way < 60)
    signed = signV4(
      { ...unsigned, now, ...(random.chance(0.2) ? { payloadHash: unsignedPayload } : {}) },
      key,
    );
  else if (way < 75)
    signed = presignV4({ ...unsigned, now }, key, late ? 60 : random.pick([60, 3600, 604_800]));
  else if (way < 90) signed = signV2({ ...unsigned, now }, key);
  else signed = presignV2({ ...unsigned, now }, key, late ? 60 : 600);
  const target = `${unsigned.path}${signed.query === '' ? '' : `?${signed.query}`}`;
  const request = finished(operation, unsigned.method, target, signed.headers, body, random);
  if (!breaks) return request;
  return late ? { ...request, proof: 'broken' } : broken(random, request);
}

/** A right signature made wrong in one place. */
function broken(random: Random, request: FuzzRequest): FuzzRequest {
  const flip = (text: string): string => text.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  const inHeader = request.headers.some(([name]) => name === 'authorization');
  const change = random.below(3);
  if (change === 0 && inHeader)
    return {
      ...request,
      proof: 'broken',
      headers: request.headers.map(([name, value]) =>
        name === 'authorization'
          ? [
              name,
              value.replace(
                /([0-9a-f]{64}|[^:]{20,}=)$/,
                (all) => `${all[0] === 'a' ? 'b' : 'a'}${all.slice(1)}`,
              ),
            ]
          : [name, value],
      ),
    };
  if (change === 1)
    return { ...request, proof: 'broken', headers: [...request.headers, ['x-amz-meta-unsigned', 'x']] };
  if (!inHeader)
    return {
      ...request,
      proof: 'broken',
      target: request.target.replace(
        /(Signature=)([^&])/,
        (_all, name: string, first: string) => `${name}${flip(first)}`,
      ),
    };
  return { ...request, proof: 'broken', target: request.target.replace(/^(\/[^?]*)/, '$1x') };
}

function chunkedRequest(
  random: Random,
  operation: S3Operation,
  unsigned: S3Unsigned,
  body: Buffer,
  key: NonNullable<Caller['key']>,
  isSigned: boolean,
): FuzzRequest {
  const told = random.chance(0.9)
    ? String(body.length)
    : random.pick(['0', '-1', 'x', '', '99999999999', String(body.length + 1)]);
  const headers: Record<string, string> = {
    ...unsigned.headers,
    'content-encoding': 'aws-chunked',
    'x-amz-decoded-content-length': told,
  };
  const target = `${unsigned.path}${unsigned.query === '' ? '' : `?${unsigned.query}`}`;
  if (isSigned) {
    const payloadHash = random.chance(0.9)
      ? 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
      : 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER';
    const signed = signV4({ ...unsigned, headers, payloadHash }, key);
    const lie = random.chance(0.6) ? 'none' : random.pick(['data', 'signature', 'size', 'end'] as const);
    const framed = signed.chunkSigner === undefined ? body : signedChunks(signed.chunkSigner, body, lie);
    return finished(operation, unsigned.method, target, signed.headers, framed, random);
  }
  headers['x-amz-trailer'] = random.pick(['x-amz-checksum-crc32', 'x-amz-checksum-sha256', 'x-other', '']);
  const signed = signV4({ ...unsigned, headers, payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' }, key);
  const size = body.length.toString(16);
  const framed = random.pick([
    `${size}\r\n${body.toString('latin1')}\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n`,
    `${size}\r\n${body.toString('latin1')}\r\n0\r\n\r\n`,
    `${size}\r\n${body.toString('latin1')}\r\n0\r\n${'a:b\r\n'.repeat(500)}\r\n`,
    `-1\r\n${body.toString('latin1')}\r\n0\r\n\r\n`,
    `ffffffffffffffff\r\n${body.toString('latin1')}\r\n0\r\n\r\n`,
    `${size};${'x'.repeat(20_000)}\r\n`,
    'zz\r\n',
    '\r\n\r\n',
    '0',
  ]);
  return finished(operation, unsigned.method, target, signed.headers, Buffer.from(framed, 'latin1'), random);
}

/** Somebody with no key: nothing, a token of a session, or signatures that are none. */
function withoutKey(
  random: Random,
  caller: Caller,
  operation: S3Operation,
  unsigned: S3Unsigned,
  body: Buffer,
): FuzzRequest {
  const port = unsigned.host.slice(unsigned.host.lastIndexOf(':'));
  const headers: Record<string, string> = { host: `${gatewayDomain}${port}`, ...unsigned.headers };
  const token = caller.tokens[0] ?? 'a.b.c';
  const proof = random.pick([
    'none',
    'bearer',
    'cookie',
    'basic',
    'v4',
    'v4',
    'v2',
    'query4',
    'query2',
  ] as const);
  const scope = '20240101/us-east-1/s3/aws4_request';
  const guess = hash('sha256', String(random.next()));
  const query: string[] = unsigned.query === '' ? [] : [unsigned.query];
  if (proof === 'bearer') headers['authorization'] = `Bearer ${token}`;
  if (proof === 'cookie') headers['cookie'] = `access_token=${token}`;
  if (proof === 'basic') headers['authorization'] = 'Basic Og==';
  if (proof === 'v4')
    headers['authorization'] = random.pick([
      'AWS4-HMAC-SHA256',
      'AWS4-HMAC-SHA256 x=y',
      `AWS4-HMAC-SHA256 Credential=NOBODY/${scope}, SignedHeaders=host, Signature=${guess}`,
      `AWS4-HMAC-SHA256 Credential=NOBODY/${scope}, SignedHeaders=, Signature=x`,
      `AWS4-HMAC-SHA256 ${'Credential=a,'.repeat(2000)}`,
      'AWS4-ECDSA-P256-SHA256 x',
    ]);
  if (proof === 'v2')
    headers['authorization'] = random.pick([
      'AWS ',
      'AWS x',
      'AWS :',
      'AWS NOBODY:AAAA',
      `AWS ${'x'.repeat(5000)}:x`,
    ]);
  if (proof === 'query4')
    query.push(
      `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=NOBODY%2F${encodeURIComponent(scope)}&X-Amz-Date=20240101T000000Z&X-Amz-Expires=${random.pick(['60', '-1', 'x', '99999999'])}&X-Amz-SignedHeaders=host&X-Amz-Signature=${guess}`,
    );
  if (proof === 'query2')
    query.push(`AWSAccessKeyId=NOBODY&Expires=${random.pick(['1', '99999999999', 'x'])}&Signature=AAAA`);
  const target = `${unsigned.path}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  return finished(operation, unsigned.method, target, headers, body, random);
}

function finished(
  operation: S3Operation,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  random: Random,
): FuzzRequest {
  let framing: Framing = 'right';
  const all: [string, string][] = Object.entries(headers);
  if (body.length > 0 || method === 'PUT' || method === 'POST') {
    const lies = random.chance(0.01);
    all.push(['content-length', String(body.length + (lies ? 1 + random.below(100) : 0))]);
    if (lies) framing = 'cut';
  }
  return {
    surface: 's3',
    operation: operation.name,
    method,
    target,
    headers: all,
    body,
    framing,
    proof: 'right',
  };
}
