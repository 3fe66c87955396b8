import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { crc32c } from '@node-rs/crc32';
import { Crc64Nvme } from '@svc/encoding';
import type { BodyDigests, DigestName } from '@svc/engine';
import { S3Error } from '../errors/s3-error.ts';
import type { S3Request } from '../request/s3-request.ts';

export type ChecksumAlgorithm = DigestName | 'md5';

/** A checksum the client announced in a header. */
export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  /** Base64 as sent. */
  readonly value: string;
}

const digestLength: Readonly<Record<ChecksumAlgorithm, number>> = {
  crc32: 4,
  crc32c: 4,
  crc64nvme: 8,
  sha1: 20,
  sha256: 32,
  sha512: 64,
  md5: 16,
};

const headerPrefix = 'x-amz-checksum-';
const notChecksums: ReadonlySet<string> = new Set(['algorithm', 'type', 'mode']);
const unsupported: ReadonlySet<string> = new Set(['xxhash64', 'xxhash3', 'xxhash128']);

export function isChecksumAlgorithm(name: string): name is ChecksumAlgorithm {
  return Object.hasOwn(digestLength, name);
}

export function checksumHeader(algorithm: ChecksumAlgorithm): string {
  return headerPrefix + algorithm;
}

/** The algorithm of an `x-amz-checksum-…` header or trailer name; undefined when it is none of ours. */
export function algorithmOf(name: string): ChecksumAlgorithm | undefined {
  if (!name.startsWith(headerPrefix)) return undefined;
  const suffix = name.slice(headerPrefix.length);
  if (unsupported.has(suffix))
    throw new S3Error('NotImplemented', `The checksum ${suffix} is not implemented.`);
  return isChecksumAlgorithm(suffix) ? suffix : undefined;
}

/** The one checksum header of a request; two of them, or one beside a trailer, contradict each other. */
export function checksumHeaderOf(request: S3Request): Checksum | undefined {
  let found: Checksum | undefined;
  for (const [name, value] of request.headers) {
    if (!name.startsWith(headerPrefix) || notChecksums.has(name.slice(headerPrefix.length))) continue;
    const algorithm = algorithmOf(name);
    if (algorithm === undefined) throw new S3Error('InvalidRequest', `The header ${name} is not supported.`);
    if (found !== undefined || request.headers.has('x-amz-trailer'))
      throw new S3Error('InvalidRequest', 'Expecting a single x-amz-checksum- header');
    decodeChecksum(algorithm, value);
    found = { algorithm, value };
  }
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

export function decodeChecksum(algorithm: ChecksumAlgorithm, value: string): Buffer {
  const bytes = Buffer.from(value, 'base64');
  if (bytes.length !== digestLength[algorithm] || bytes.toString('base64') !== value)
    throw new S3Error('InvalidRequest', `Value for ${checksumHeader(algorithm)} header is invalid.`);
  return bytes;
}

/** The bytes of a `Content-MD5` header, or undefined without it. */
export function contentMd5Of(request: S3Request): Buffer | undefined {
  const value = request.headers.get('content-md5');
  if (value === undefined) return undefined;
  const bytes = Buffer.from(value, 'base64');
  if (bytes.length !== 16 || bytes.toString('base64') !== value) throw new S3Error('InvalidDigest');
  return bytes;
}

/** Digests of a body that is already in memory. */
export function digestsOf(body: Uint8Array, wanted: readonly DigestName[]): BodyDigests {
  const extra: Partial<Record<DigestName, Buffer>> = {};
  for (const name of wanted) extra[name] = digestOf(name, body);
  return { md5: digestOf('md5', body), size: body.length, extra };
}

function digestOf(algorithm: ChecksumAlgorithm, body: Uint8Array): Buffer {
  switch (algorithm) {
    case 'crc32':
      return bigEndian(crc32(body));
    case 'crc32c':
      return bigEndian(crc32c(Buffer.from(body.buffer, body.byteOffset, body.byteLength)));
    case 'crc64nvme':
      return new Crc64Nvme().update(body).digest();
    case 'sha1':
    case 'sha256':
    case 'sha512':
    case 'md5':
      return createHash(algorithm).update(body).digest();
  }
}

function bigEndian(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
