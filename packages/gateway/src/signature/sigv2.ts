import { createHmac } from 'node:crypto';
import { canonicalQuery } from '@svc/encoding';
import { S3Error } from '../errors/s3-error.ts';
import type { S3Request } from '../request/s3-request.ts';
import { equalSignatures } from './equal.ts';
import { checkNotExpired, checkSkew, parseHttpDate, parseIsoBasic } from './request-time.ts';

/** Query names that belong to the signed resource; case matters. */
const subResources: ReadonlySet<string> = new Set(
  (
    'accelerate acl analytics cors defaultObjectAcl delete inventory lifecycle location logging metrics ' +
    'notification partNumber policy replication requestPayment response-cache-control ' +
    'response-content-disposition response-content-encoding response-content-language response-content-type ' +
    'response-expires restore select select-type storageClass tagging torrent uploadId uploads versionId ' +
    'versioning versions website'
  ).split(' '),
);

const headerName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** As latin1. */
const headerText = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** A SigV2 signature as a request carries it. */
export interface V2Signature {
  readonly form: 'header' | 'query' | 'java';
  readonly accessKeyId: string;
  readonly signature: string;
}

/** `Authorization: AWS <id>:<base64>` */
export function readV2Header(request: S3Request): V2Signature {
  const value = (request.headers.get('authorization') ?? '').slice('AWS '.length).trim();
  const colon = value.indexOf(':');
  const accessKeyId = value.slice(0, colon);
  if (colon < 1 || colon > 128 || accessKeyId.includes('/') || colon === value.length - 1)
    throw new S3Error('MissingFields');
  return { form: 'header', accessKeyId, signature: value.slice(colon + 1) };
}

/** `?AWSAccessKeyId=…&Signature=…` with `Expires` (URLs of boto3, s3cmd) or `Timestamp` (old Java client). */
export function readV2Query(request: S3Request): V2Signature {
  const accessKeyId = request.query.text('AWSAccessKeyId');
  const signature = request.query.text('Signature');
  const java = request.query.has('SignatureMethod') || request.query.has('Timestamp');
  const complete = java
    ? request.query.get('SignatureMethod') === 'HmacSHA256' &&
      request.query.get('SignatureVersion') === '2' &&
      request.query.text('Timestamp') !== undefined
    : request.query.text('Expires') !== undefined;
  if (accessKeyId === undefined || signature === undefined || !complete) throw new S3Error('MissingFields');
  return { form: java ? 'java' : 'query', accessKeyId, signature };
}

/** Whether the signature is right; `repository` is the one named by a virtual host. */
export function verifyV2(
  request: S3Request,
  given: V2Signature,
  secret: string,
  repository: string | undefined,
): boolean {
  if (given.form === 'java')
    return equalSignatures(javaSignature(request, secret, repository), given.signature);
  if (given.form === 'query' && !holdsHeadersOnce(request)) return false;
  return pathsOf(request, repository).some((path) =>
    dateLines(request, given).some((date) =>
      equalSignatures(hmacSha1(secret, stringToSign(request, given, date, path)), given.signature),
    ),
  );
}

/** botocore asks for `/<repository>` and signs `/<repository>/`. The two name the same thing, so either will do. */
function pathsOf(request: S3Request, repository: string | undefined): string[] {
  const path = `${repository === undefined ? '' : `/${repository}`}${request.rawPath}`;
  const [, bare, slash] = /^(\/[^/]+)(\/?)$/.exec(path) ?? [];
  if (bare === undefined) return [path];
  return [path, slash === '' ? `${path}/` : bare];
}

/** minio-go signs the Date header even when `x-amz-date` is there, others leave the line empty. */
function dateLines(request: S3Request, given: V2Signature): string[] {
  if (given.form === 'query') return [request.query.get('Expires') ?? ''];
  const date = request.headers.get('date') ?? '';
  if (!request.headers.has('x-amz-date')) return [date];
  return date === '' ? [''] : ['', date];
}

export function stringToSign(request: S3Request, given: V2Signature, dateLine: string, path: string): string {
  const signed = signedHeaders(request, given);
  const amz = [...signed.keys()].filter((name) => name.startsWith('x-amz-')).sort();
  const lines = amz.map((name) => `${name}:${signed.get(name) ?? ''}\n`).join('');
  return (
    `${request.method}\n${signed.get('content-md5') ?? ''}\n${signed.get('content-type') ?? ''}\n` +
    `${dateLine}\n${lines}${resource(request, path)}`
  );
}

/** In a presigned URL, botocore puts what it would send as signed headers into the query. */
function signedHeaders(request: S3Request, { form }: V2Signature): ReadonlyMap<string, string> {
  if (form !== 'query') return request.headers;
  const headers = new Map(request.headers);
  for (const [name, text] of headersInQuery(request)) headers.set(name, text);
  return headers;
}

function* headersInQuery(request: S3Request): Generator<readonly [name: string, text: string]> {
  for (const [name, value] of request.query) {
    const lower = name.toLowerCase();
    if (lower.startsWith('x-amz-') || lower === 'content-type' || lower === 'content-md5')
      yield [lower, Buffer.from(value).toString('latin1')];
  }
}

/**
 * Whether the query could be headers, each given once. Otherwise one signature would hold for several requests: for
 * `a=b,c` and for `a=b&a=c`, or for a value with a line break and for two headers.
 */
function holdsHeadersOnce(request: S3Request): boolean {
  const seen = new Set<string>();
  for (const [name, text] of headersInQuery(request)) {
    const sent = request.headers.get(name) ?? text;
    if (seen.has(name) || sent !== text || !headerName.test(name) || !headerText.test(text)) return false;
    seen.add(name);
  }
  return true;
}

function resource(request: S3Request, path: string): string {
  const listed: string[] = [];
  for (const [name, value] of request.query)
    if (subResources.has(name))
      listed.push(value === '' ? name : `${name}=${Buffer.from(value).toString('latin1')}`);
  listed.sort();
  return `${path}${listed.length > 0 ? `?${listed.join('&')}` : ''}`;
}

function hmacSha1(secret: string, text: string): string {
  return createHmac('sha1', secret).update(text, 'latin1').digest('base64');
}

function javaSignature(request: S3Request, secret: string, repository: string | undefined): string {
  const bucket = repository === undefined ? '' : `/${repository}`;
  const query = canonicalQuery(request.rawQuery, 'Signature').replaceAll('%20', '+');
  const text = `POST\n${request.headers.get('host') ?? ''}\n${bucket}${request.rawPath}\n${query}`;
  return createHmac('sha256', secret).update(text, 'latin1').digest('base64');
}

export function checkV2Time(request: S3Request, given: V2Signature, now: number): void {
  if (given.form === 'query') {
    const expires = request.query.get('Expires') ?? '';
    if (!/^\d{1,15}$/.test(expires)) throw new S3Error('MalformedDate');
    return checkNotExpired(Number(expires) * 1000, now);
  }
  if (given.form === 'java') {
    const time = Date.parse(request.query.get('Timestamp') ?? '');
    if (Number.isNaN(time)) throw new S3Error('MalformedDate');
    return checkSkew(time, now);
  }
  const text = request.headers.get('x-amz-date') ?? request.headers.get('date');
  if (text === undefined || text === '') throw new S3Error('MissingFields');
  const time = parseHttpDate(text) ?? parseIsoBasic(text);
  if (time === undefined) throw new S3Error('MalformedDate');
  checkSkew(time, now);
}
