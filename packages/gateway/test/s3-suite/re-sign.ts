import { hash } from 'node:crypto';
import {
  canonicalQuery,
  canonicalUri,
  ChunkSigner,
  deriveSigningKey,
  signCanonicalRequest,
  sigV4Algorithm,
  type SigV4Scope,
  unsignedPayload,
} from '@svc/encoding';

/** A request as it is on the wire, its body whole. */
export interface WireRequest {
  readonly method: string;
  /** Path and query, encoded. */
  readonly target: string;
  /** Names as sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

interface Signed {
  readonly scope: SigV4Scope;
  readonly signedHeaders: string;
  readonly signature: string;
  readonly dateTime: string;
  readonly payloadHash: string;
  readonly presigned: boolean;
}

/**
 * Signs `changed` the way `original` was signed, fault for fault: a signature that was right becomes the right one, and
 * one that was wrong or unreadable stays as it is. Chunks of a signed body are treated alike.
 */
export function signAgain(
  original: WireRequest,
  changed: WireRequest,
  secretOf: (accessKeyId: string) => string | undefined,
): WireRequest {
  const found = readSignature(original);
  const secret = found === undefined ? undefined : secretOf(found.accessKeyId);
  if (found === undefined || secret === undefined) return changed;
  const key = deriveSigningKey(secret, found.signed.scope);
  const sign = (request: WireRequest): string =>
    signCanonicalRequest(
      key,
      found.signed.dateTime,
      found.signed.scope,
      canonicalOf(request, found.signed, payloadHashOf(request, found.signed)),
    );
  if (sign(original) !== found.signed.signature) return changed;
  const signature = sign(changed);
  const signer = (seed: string) => new ChunkSigner(key, found.signed.dateTime, found.signed.scope, seed);
  const streaming = found.signed.payloadHash.startsWith('STREAMING-AWS4-HMAC-SHA256-PAYLOAD');
  return {
    method: changed.method,
    target: changed.target.replace(found.signed.signature, signature),
    headers: changed.headers.map(([name, value]) =>
      name.toLowerCase() === 'authorization'
        ? [name, value.replace(found.signed.signature, signature)]
        : [name, value],
    ),
    body: streaming
      ? signChunksAgain(changed.body, signer(found.signed.signature), signer(signature))
      : changed.body,
  };
}

export function headerOf(request: WireRequest, name: string): string | undefined {
  const values = request.headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(',');
}

export function splitTarget(target: string): { path: string; query: string } {
  const at = target.indexOf('?');
  return at < 0 ? { path: target, query: '' } : { path: target.slice(0, at), query: target.slice(at + 1) };
}

function readSignature(request: WireRequest): { accessKeyId: string; signed: Signed } | undefined {
  const parameters = new URLSearchParams(splitTarget(request.target).query);
  const presigned = parameters.has('X-Amz-Signature');
  const header = headerOf(request, 'authorization') ?? '';
  if (!presigned && !header.startsWith(sigV4Algorithm)) return undefined;
  const field = (name: string, parameter: string): string =>
    presigned
      ? (parameters.get(parameter) ?? '')
      : (new RegExp(`[ ,]${name}=([^,]*)`).exec(header)?.[1] ?? '').trim();
  const [accessKeyId = '', date = '', region = '', service = '', last] = field(
    'Credential',
    'X-Amz-Credential',
  ).split('/');
  if (last !== 'aws4_request') return undefined;
  return {
    accessKeyId,
    signed: {
      scope: { date, region, service },
      signedHeaders: field('SignedHeaders', 'X-Amz-SignedHeaders'),
      signature: field('Signature', 'X-Amz-Signature'),
      dateTime: (presigned ? parameters.get('X-Amz-Date') : headerOf(request, 'x-amz-date')) ?? '',
      payloadHash:
        (presigned ? parameters.get('X-Amz-Content-Sha256') : undefined) ??
        headerOf(request, 'x-amz-content-sha256') ??
        unsignedPayload,
      presigned,
    },
  };
}

function payloadHashOf(request: WireRequest, signed: Signed): string {
  return signed.presigned
    ? signed.payloadHash
    : (headerOf(request, 'x-amz-content-sha256') ?? unsignedPayload);
}

function canonicalOf(request: WireRequest, signed: Signed, payloadHash: string) {
  const { path, query } = splitTarget(request.target);
  return {
    method: request.method,
    uri: canonicalUri(path),
    query: canonicalQuery(query, signed.presigned ? 'X-Amz-Signature' : undefined),
    headers: signed.signedHeaders
      .split(';')
      .map((name) => [name, headerOf(request, name.toLowerCase()) ?? ''] as const),
    payloadHash,
  };
}

/** What cannot be read as chunks goes on as it came. */
function signChunksAgain(body: Buffer, before: ChunkSigner, after: ChunkSigner): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (;;) {
    const end = body.indexOf('\r\n', at);
    const header =
      end < 0 ? null : /^([0-9a-f]+);chunk-signature=([0-9a-f]*)(.*)$/i.exec(text(body, at, end));
    const size = Number.parseInt(header?.[1] ?? '', 16);
    const start = end + 2;
    if (header === null || start + size > body.length) break;
    const data = body.subarray(start, start + size);
    const digest = hash('sha256', data, 'hex');
    const [right, replacement] = [before.chunk(digest), after.chunk(digest)];
    const given = header[2] ?? '';
    pieces.push(
      Buffer.from(`${header[1]};chunk-signature=${given === right ? replacement : given}${header[3]}\r\n`),
      data,
    );
    at = start + size;
    if (size === 0) {
      pieces.push(signTrailersAgain(body.subarray(at), before, after));
      return Buffer.concat(pieces);
    }
    if (text(body, at, at + 2) !== '\r\n') break;
    pieces.push(Buffer.from('\r\n'));
    at += 2;
  }
  pieces.push(body.subarray(at));
  return Buffer.concat(pieces);
}

function signTrailersAgain(rest: Buffer, before: ChunkSigner, after: ChunkSigner): Buffer {
  const trailers: [string, string][] = [];
  let given: string | undefined;
  for (const line of rest.toString('latin1').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const [name, value] = [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    if (name.toLowerCase() === 'x-amz-trailer-signature') given = value;
    else trailers.push([name, value]);
  }
  if (given === undefined || given !== before.trailer(trailers)) return rest;
  return Buffer.from(rest.toString('latin1').replace(given, after.trailer(trailers)), 'latin1');
}

function text(body: Buffer, from: number, to: number): string {
  return body.toString('latin1', from, to);
}
