import { createDigest, digestBytes, isChecksumName, loadDigests, type ChecksumName } from '@svc/engine';
import type { BodyDigests, DigestName } from '@svc/engine';
import { S3Error } from '../errors/s3-error.ts';
import { headerText, type S3Request } from '../request/s3-request.ts';

export type ChecksumAlgorithm = ChecksumName;

/** A checksum the client announced in a header. */
export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  /** Base64 as sent. */
  readonly value: string;
}

const headerPrefix = 'x-amz-checksum-';
const notChecksums: ReadonlySet<string> = new Set(['algorithm', 'type', 'mode']);

export const isChecksumAlgorithm = isChecksumName;

export function checksumHeader(algorithm: ChecksumAlgorithm): string {
  return headerPrefix + algorithm;
}

/** The algorithm of an `x-amz-checksum-…` header or trailer name; undefined when it is none of ours. */
export function algorithmOf(name: string): ChecksumAlgorithm | undefined {
  if (!name.startsWith(headerPrefix)) return undefined;
  const suffix = name.slice(headerPrefix.length);
  return isChecksumAlgorithm(suffix) ? suffix : undefined;
}

/** The one checksum header of a request, not read yet; two of them, or one beside a trailer, contradict each other. */
export function announcedChecksum(request: S3Request): Checksum | undefined {
  let found: Checksum | undefined;
  for (const [name, value] of request.headers) {
    if (!name.startsWith(headerPrefix) || notChecksums.has(name.slice(headerPrefix.length))) continue;
    const algorithm = algorithmOf(name);
    if (algorithm === undefined)
      throw new S3Error(
        'InvalidRequest',
        'The algorithm type you specified in x-amz-checksum- header is invalid.',
      );
    if (found !== undefined || request.headers.has('x-amz-trailer'))
      throw new S3Error(
        'InvalidRequest',
        'Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.',
      );
    found = { algorithm, value };
  }
  return found;
}

/** The checksum header of a request with a body. */
export function checksumHeaderOf(request: S3Request): Checksum | undefined {
  const asked = algorithmNamed(headerText(request, 'x-amz-sdk-checksum-algorithm'));
  const found = announcedChecksum(request);
  if (found !== undefined) decodeChecksum(found.algorithm, found.value);
  const announced = found?.algorithm ?? trailerAlgorithmOf(request);
  if (asked !== undefined && announced === undefined)
    throw new S3Error(
      'InvalidRequest',
      'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers ' +
        'were found.',
    );
  if (asked !== undefined && announced !== asked) throw invalidHeader('x-amz-sdk-checksum-algorithm');
  return found;
}

/** The algorithm `x-amz-trailer` announces, or undefined without that header. */
export function trailerAlgorithmOf(request: S3Request): ChecksumAlgorithm | undefined {
  const name = request.headers.get('x-amz-trailer')?.toLowerCase();
  if (name === undefined || name === '') return undefined;
  const algorithm = algorithmOf(name);
  if (algorithm === undefined)
    throw new S3Error('InvalidRequest', 'The value specified in the x-amz-trailer header is not supported');
  return algorithm;
}

/** An algorithm as `x-amz-checksum-algorithm` names it, in any case. */
export function algorithmNamed(name: string | undefined): ChecksumAlgorithm | undefined {
  if (name === undefined) return undefined;
  const lower = name.toLowerCase();
  if (isChecksumAlgorithm(lower)) return lower;
  const known = Object.keys(digestBytes).map((each) => each.toUpperCase());
  throw new S3Error(
    'InvalidRequest',
    'Checksum algorithm provided is unsupported. Please try again with any of the valid types: ' +
      `[${known.toSorted().join(', ')}]`,
  );
}

export function invalidHeader(name: string): S3Error {
  return new S3Error('InvalidRequest', `Value for ${name} header is invalid.`);
}

export function isChecksum(algorithm: ChecksumAlgorithm, value: string): boolean {
  const bytes = Buffer.from(value, 'base64');
  return bytes.length === digestBytes[algorithm] && bytes.toString('base64') === value;
}

export function decodeChecksum(
  algorithm: ChecksumAlgorithm,
  value: string,
  place: 'header' | 'trailing header' = 'header',
): Buffer {
  if (!isChecksum(algorithm, value))
    throw new S3Error('InvalidRequest', `Value for ${checksumHeader(algorithm)} ${place} is invalid.`);
  return Buffer.from(value, 'base64');
}

/** The bytes of a `Content-MD5` header, or undefined without it. */
export function contentMd5Of(request: S3Request): Buffer | undefined {
  const value = request.headers.get('content-md5');
  if (value === undefined) return undefined;
  const bytes = Buffer.from(value, 'base64');
  if (bytes.length !== 16 || bytes.toString('base64') !== value)
    throw new S3Error('InvalidDigest', undefined, { elements: [['Content-MD5', value]] });
  return bytes;
}

/** Digests of a body that is already in memory. */
export async function digestsOf(body: Uint8Array, wanted: readonly DigestName[]): Promise<BodyDigests> {
  await loadDigests(wanted);
  const extra: Partial<Record<DigestName, Buffer>> = {};
  for (const name of wanted) extra[name] = digestOf(name, body);
  return { md5: digestOf('md5', body), size: body.length, extra };
}

function digestOf(algorithm: ChecksumAlgorithm, body: Uint8Array): Buffer {
  const digest = createDigest(algorithm);
  digest.update(body);
  return digest.digest();
}
