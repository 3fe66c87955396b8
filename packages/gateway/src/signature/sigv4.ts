import type { KeyObject } from 'node:crypto';
import {
  canonicalQuery,
  canonicalUri,
  sigV4Algorithm,
  sigV4DateTime,
  signCanonicalRequest,
  unsignedPayload,
  type CanonicalRequest,
  type SigV4Scope,
} from '@svc/encoding';
import { S3Error } from '../errors/s3-error.ts';
import type { Query } from '../request/query.ts';
import type { S3Request } from '../request/s3-request.ts';
import { equalSignatures } from './equal.ts';
import { checkNotExpired, checkNotFuture, checkSkew, parseHttpDate, parseIsoBasic } from './request-time.ts';

const maxExpirySeconds = 604_800;

/** A SigV4 signature as a request carries it, in the header or in the query. */
export interface V4Signature {
  readonly accessKeyId: string;
  readonly scope: SigV4Scope;
  readonly presigned: boolean;
  readonly signedHeaders: string;
  readonly signature: string;
  readonly dateTime: string;
  readonly time: number;
  readonly payloadHash: string;
  /** Validity of a presigned request. */
  readonly expiresSeconds: number;
}

/** Reads `Authorization: AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…` in any order and spacing. */
export function readHeaderSignature(request: S3Request): V4Signature {
  const header = request.headers.get('authorization') ?? '';
  const fields = new Map<string, string>();
  const items = header.slice(sigV4Algorithm.length).split(',');
  if (items.length !== 3)
    throw malformedHeader(
      'the authorization header requires three components: Credential, SignedHeaders, and Signature.',
    );
  for (const item of items) {
    const equals = item.indexOf('=');
    if (equals < 0) throw malformedHeader(`the authorization component "${item.trim()}" is malformed.`);
    fields.set(item.slice(0, equals).trim(), item.slice(equals + 1).trim());
  }
  for (const name of ['Credential', 'SignedHeaders', 'Signature'])
    if ((fields.get(name) ?? '') === '') throw malformedHeader(`missing ${name}.`);
  const credential = parseCredential(fields.get('Credential') ?? '', malformedHeader);
  const signedHeaders = fields.get('SignedHeaders') ?? '';
  const signature = fields.get('Signature') ?? '';
  if (!/^[0-9a-f]{64}$/.test(signature)) throw new S3Error('AuthorizationHeaderMalformed');
  const when = requestDateTime(request, credential.scope.date);
  return {
    ...credential,
    ...when,
    presigned: false,
    signedHeaders,
    signature,
    payloadHash: request.headers.get('x-amz-content-sha256') ?? unsignedPayload,
    expiresSeconds: 0,
  };
}

function malformedHeader(what: string): S3Error {
  return new S3Error('AuthorizationHeaderMalformed', `The authorization header is malformed; ${what}`);
}

function malformedQuery(what: string): S3Error {
  return new S3Error(
    'AuthorizationQueryParametersError',
    `Error parsing the X-Amz-Credential parameter; ${what}`,
  );
}

const known = new WeakMap<Query, V4Signature>();

/** The signature of a presigned URL. */
export function readQuerySignature(request: S3Request): V4Signature {
  const { query } = request;
  const before = query.isKept ? known.get(query) : undefined;
  if (before !== undefined) return before;
  const signature = parseQuerySignature(request);
  // Otherwise the signature covers headers, too.
  const isAllInQuery = signature.signedHeaders === 'host' && query.text('X-Amz-Date') !== undefined;
  if (isAllInQuery && query.isKept) known.set(query, signature);
  return signature;
}

/** Reads the `X-Amz-*` query parameters. */
function parseQuerySignature(request: S3Request): V4Signature {
  const { query } = request;
  if ((query.get('X-Amz-Algorithm') ?? '').toUpperCase() !== sigV4Algorithm)
    throw new S3Error(
      'AuthorizationQueryParametersError',
      query.get('X-Amz-Algorithm')?.startsWith('AWS4-ECDSA') === true
        ? `X-Amz-Algorithm only supports "${sigV4Algorithm}"`
        : `X-Amz-Algorithm only supports "${sigV4Algorithm} and AWS4-ECDSA-P256-SHA256"`,
    );
  const credentialText = query.get('X-Amz-Credential');
  const signature = query.get('X-Amz-Signature');
  const signedHeaders = query.get('X-Amz-SignedHeaders');
  const expires = query.get('X-Amz-Expires');
  if (
    credentialText === undefined ||
    signature === undefined ||
    signedHeaders === undefined ||
    expires === undefined ||
    query.get('X-Amz-Date') === undefined
  )
    throw missingParameters();
  const credential = parseCredential(credentialText, malformedQuery);
  const expiresSeconds = parseExpires(expires);
  const when = requestDateTime(request, credential.scope.date);
  const signedNames = signedHeaders.toLowerCase().split(';');
  return {
    ...credential,
    ...when,
    presigned: true,
    signedHeaders,
    signature,
    payloadHash:
      query.text('X-Amz-Content-Sha256') ??
      (signedNames.includes('x-amz-content-sha256')
        ? request.headers.get('x-amz-content-sha256')
        : undefined) ??
      unsignedPayload,
    expiresSeconds,
  };
}

/** A presigned request without one of these cannot be verified. */
export function missingParameters(): S3Error {
  return new S3Error(
    'AuthorizationQueryParametersError',
    'Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, ' +
      'X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.',
  );
}

/** Accepts any id of 1–128 characters without `/`; region and service are taken as they are. */
function parseCredential(
  text: string,
  malformed: (what: string) => S3Error,
): { accessKeyId: string; scope: SigV4Scope } {
  const [accessKeyId = '', date = '', region = '', service = '', terminal, ...rest] = text.split('/');
  if (
    accessKeyId === '' ||
    accessKeyId.length > 128 ||
    service === '' ||
    terminal === undefined ||
    rest.length > 0
  )
    throw malformed(
      'the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".',
    );
  if (terminal !== 'aws4_request')
    throw malformed(`incorrect terminal "${terminal}". This endpoint uses "aws4_request".`);
  if (!/^\d{8}$/.test(date))
    throw malformed(
      `incorrect date format "${date}". This date in the credential must be in the format "yyyyMMdd".`,
    );
  return { accessKeyId, scope: { date, region, service } };
}

function parseExpires(text: string): number {
  const fault = 'AuthorizationQueryParametersError';
  if (!/^[+-]?\d+$/.test(text)) throw new S3Error(fault, 'X-Amz-Expires should be a number');
  const seconds = Number(text);
  if (seconds < 0) throw new S3Error(fault, 'X-Amz-Expires must be non-negative');
  if (seconds > maxExpirySeconds)
    throw new S3Error(
      fault,
      'X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than ' +
        '604800 seconds',
    );
  return seconds;
}

function requestDateTime(request: S3Request, credentialDate: string): { dateTime: string; time: number } {
  const iso = request.query.text('X-Amz-Date') ?? request.headers.get('x-amz-date');
  const text = iso ?? request.headers.get('date');
  if (text === undefined || text === '') throw withoutDate();
  const isoTime = parseIsoBasic(text);
  const time = isoTime ?? (iso === undefined ? parseHttpDate(text) : undefined);
  if (time === undefined) {
    if (request.query.text('X-Amz-Date') === undefined) throw withoutDate();
    throw new S3Error(
      'AuthorizationQueryParametersError',
      "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"",
    );
  }
  const dateTime = isoTime === undefined ? sigV4DateTime(new Date(time)) : text;
  if (!dateTime.startsWith(credentialDate)) {
    if (request.query.text('X-Amz-Date') !== undefined)
      throw new S3Error(
        'AuthorizationQueryParametersError',
        `Invalid credential date "${credentialDate}". This date is not the same as X-Amz-Date: ` +
          `"${dateTime.slice(0, 8)}".`,
      );
    throw new S3Error(
      'AuthorizationHeaderMalformed',
      `The authorization header is malformed; Invalid credential date ${credentialDate}. This date is not the ` +
        `same as X-Amz-Date: "${dateTime.slice(0, 8)}".`,
    );
  }
  return { dateTime, time };
}

function withoutDate(): S3Error {
  return new S3Error('AccessDenied', 'AWS authentication requires a valid Date or x-amz-date header.');
}

/**
 * Every `x-amz-*` header must be covered by the signature: otherwise whoever holds a presigned URL could add, say,
 * `x-amz-copy-source` and act with the signer's rights.
 */
export function checkSignedHeaders(request: S3Request, signature: V4Signature): void {
  const signed = signature.signedHeaders.toLowerCase().split(';');
  const missing: string[] = [];
  if (!signed.includes('host')) missing.push('host');
  for (const name of request.headers.keys())
    if (name.startsWith('x-amz-') && name !== 'x-amz-cf-id' && !signed.includes(name)) missing.push(name);
  if (missing.length > 0)
    throw new S3Error('AccessDenied', 'There were headers present in the request which were not signed', {
      elements: [['HeadersNotSigned', missing.join(', ')]],
    });
}

/** The signature the request should carry; `host` replaces the Host header (proxies). */
export function expectedSignature(
  request: S3Request,
  given: V4Signature,
  key: KeyObject,
  host?: string,
): string {
  return signCanonicalRequest(key, given.dateTime, given.scope, canonicalRequestOf(request, given, host));
}

export function canonicalRequestOf(request: S3Request, given: V4Signature, host?: string): CanonicalRequest {
  return {
    method: request.method,
    uri: canonicalUri(request.rawPath),
    query: canonicalQuery(request.rawQuery, given.presigned ? 'X-Amz-Signature' : undefined),
    headers: given.signedHeaders.split(';').map((listed) => {
      const name = listed.toLowerCase();
      return [name, name === 'host' && host !== undefined ? host : (request.headers.get(name) ?? '')];
    }),
    payloadHash: given.payloadHash,
  };
}

/** Whether the signature is right, and for which host: proxies may have replaced the one the client signed. */
export function verifySignature(
  request: S3Request,
  given: V4Signature,
  key: KeyObject,
): { readonly valid: boolean; readonly forwardedHost: string | undefined } {
  if (equalSignatures(expectedSignature(request, given, key), given.signature))
    return { valid: true, forwardedHost: undefined };
  const forwardedHost = request.headers.get('x-forwarded-host')?.split(',')[0]?.trim();
  if (forwardedHost === undefined || forwardedHost === '') return { valid: false, forwardedHost: undefined };
  const valid = equalSignatures(expectedSignature(request, given, key, forwardedHost), given.signature);
  return { valid, forwardedHost: valid ? forwardedHost : undefined };
}

export function checkV4Time(signature: V4Signature, now: number): void {
  if (!signature.presigned) return checkSkew(signature.time, now);
  checkNotFuture(signature.time, now);
  checkNotExpired(signature.time + signature.expiresSeconds * 1000, now);
}
