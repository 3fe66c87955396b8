import { combineCrcs, crcKinds, type CrcName, type StringMap } from '@svc/encoding';
import {
  addChecksum,
  addParts,
  createDigest,
  type ChecksumName,
  type ChecksumType,
  type ObjectChecksum,
  type Upload,
  type UploadPart,
} from '@svc/engine';
import {
  algorithmNamed,
  announcedChecksum,
  checksumHeader,
  invalidHeader,
  isChecksum,
  isChecksumAlgorithm,
  type Checksum,
} from '../body/checksums.ts';
import { S3Error } from '../errors/s3-error.ts';
import { headerText, type S3Request } from '../request/s3-request.ts';
import { element } from '../xml/write.ts';
import { checksumInHeaders } from './object-checksum.ts';

/** A part as the client lists it when it completes an upload. */
export interface ListedPart {
  readonly partNumber: number;
  readonly etag: string;
  readonly checksum: Checksum | undefined;
}

/** Which checksum an upload is to have, as `CreateMultipartUpload` says it. */
export interface UploadChecksum {
  readonly algorithm: ChecksumName | undefined;
  readonly type: ChecksumType | undefined;
}

/** Only checksums that can be put together from those of the parts can be of the whole object. */
function isCombinable(algorithm: string): algorithm is CrcName {
  return Object.hasOwn(crcKinds, algorithm);
}

function checksumTypeOf(request: S3Request): ChecksumType | undefined {
  const type = headerText(request, 'x-amz-checksum-type')?.toUpperCase();
  if (type === undefined || type === 'FULL_OBJECT' || type === 'COMPOSITE') return type;
  throw invalidHeader('x-amz-checksum-type');
}

export function uploadChecksumOf(request: S3Request): UploadChecksum {
  const algorithm = algorithmNamed(headerText(request, 'x-amz-checksum-algorithm'));
  const type = checksumTypeOf(request);
  if (algorithm === undefined) {
    if (type === undefined) return { algorithm, type };
    throw new S3Error(
      'InvalidRequest',
      'The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.',
    );
  }
  const isPossible = type === 'FULL_OBJECT' ? isCombinable(algorithm) : algorithm !== 'crc64nvme';
  if (type !== undefined && !isPossible)
    throw new S3Error(
      'InvalidRequest',
      `The ${type} checksum type cannot be used with the ${algorithm} checksum algorithm.`,
    );
  return { algorithm, type: type ?? (algorithm === 'crc64nvme' ? 'FULL_OBJECT' : 'COMPOSITE') };
}

/** The checksum every part of an upload gets, where it was asked for one. Refuses a part whose client sends another. */
export function algorithmToCompute(
  upload: Upload,
  announced: ChecksumName | undefined,
): ChecksumName | undefined {
  const own = upload.checksumAlgorithm;
  if (!isChecksumAlgorithm(own)) return undefined;
  const isMissing = announced === undefined && upload.checksumType === 'COMPOSITE';
  if (isMissing || (announced !== undefined && announced !== own))
    throw new S3Error(
      'InvalidRequest',
      `Checksum Type mismatch occurred, expected checksum Type: ${own.toUpperCase()}, actual checksum Type: ` +
        (announced?.toUpperCase() ?? 'null'),
    );
  return own;
}

/** The checksum of the whole object that a completion brings along; with `-5` after it when it is of five parts. */
export function completedChecksumOf(request: S3Request): Checksum | undefined {
  const found = announcedChecksum(request);
  if (found === undefined) return undefined;
  const { algorithm, value } = found;
  const [, digest = ''] = (algorithm === 'crc64nvme' ? /^(.*)$/ : /^([^-]*)(?:-\d{1,5})?$/).exec(value) ?? [];
  if (!isChecksum(algorithm, digest)) throw invalidHeader(checksumHeader(algorithm));
  return found;
}

/** Checks what a completion says of checksums and answers what is kept with the object. */
export function completedMetadata(
  request: S3Request,
  listed: readonly ListedPart[],
  upload: Upload,
  parts: readonly UploadPart[],
): StringMap {
  const type = checksumTypeOf(request);
  if (type !== undefined && type !== upload.checksumType)
    throw new S3Error(
      'InvalidRequest',
      `The upload was created using the ${upload.checksumType === '' ? 'null' : upload.checksumType} checksum mode. ` +
        'The complete request must use the same checksum mode.',
    );
  const given = completedChecksumOf(request);
  const own = isChecksumAlgorithm(upload.checksumAlgorithm) ? upload.checksumAlgorithm : undefined;
  for (const [index, part] of parts.entries()) checkPart(upload, own, part, listed[index]);
  const algorithm = own ?? commonAlgorithm(parts);
  const values =
    algorithm === undefined ? [] : parts.map((part) => part.checksums[checksumHeader(algorithm)] ?? '');
  const metadata = Object.create(null) as Record<string, string>;
  const isWhole = algorithm !== undefined && values.every((value) => value !== '');
  if (isWhole) {
    const checksum = objectChecksum(
      algorithm,
      own === undefined ? undefined : upload.checksumType,
      parts,
      values,
    );
    if (checksum !== undefined && own !== undefined) checkGiven(given, checksum);
    if (checksum !== undefined) addChecksum(metadata, checksum);
  }
  addParts(metadata, {
    sizes: parts.map((part) => part.size),
    algorithm: isWhole ? algorithm : undefined,
    checksums: values,
  });
  return metadata;
}

function checkPart(
  upload: Upload,
  own: ChecksumName | undefined,
  part: UploadPart,
  listed: ListedPart | undefined,
): void {
  const checksum = listed?.checksum;
  if (checksum === undefined) {
    if (own === undefined || upload.checksumType !== 'COMPOSITE') return;
    throw new S3Error(
      'InvalidRequest',
      `The upload was created using a ${own} checksum. The complete request must include the checksum for each ` +
        `part. It was missing for part ${part.partNumber} in the request.`,
    );
  }
  const stored = part.checksums[checksumHeader(checksum.algorithm)];
  if (stored === undefined && own !== undefined)
    throw new S3Error(
      'BadDigest',
      `The ${checksum.algorithm} you specified for part ${part.partNumber} did not match what we received.`,
    );
  if (stored !== undefined && stored !== checksum.value)
    throw new S3Error('InvalidPart', undefined, {
      elements: [
        ['UploadId', upload.uploadId],
        ['PartNumber', String(part.partNumber)],
        ['ETag', part.etag],
      ],
    });
}

/** Where the client chose no algorithm: one that every part has and that can be of the whole object. */
function commonAlgorithm(parts: readonly UploadPart[]): CrcName | undefined {
  for (const algorithm of ['crc64nvme', 'crc32', 'crc32c'] as const)
    if (parts.every((part) => part.checksums[checksumHeader(algorithm)] !== undefined)) return algorithm;
  return undefined;
}

function objectChecksum(
  algorithm: ChecksumName,
  type: string | undefined,
  parts: readonly UploadPart[],
  values: readonly string[],
): ObjectChecksum | undefined {
  const digests = values.map((value) => Buffer.from(value, 'base64'));
  if (type !== 'COMPOSITE') {
    if (!isCombinable(algorithm)) return undefined;
    const pieces = digests.map((crc, index) => ({ crc, length: parts[index]?.size ?? 0 }));
    return { algorithm, type: 'FULL_OBJECT', value: combineCrcs(algorithm, pieces).toString('base64') };
  }
  const value = digestOf(algorithm, Buffer.concat(digests)).toString('base64');
  return { algorithm, type, value: `${value}-${parts.length}` };
}

function digestOf(algorithm: ChecksumName, bytes: Buffer): Buffer {
  const digest = createDigest(algorithm);
  digest.update(bytes);
  return digest.digest();
}

function checkGiven(given: Checksum | undefined, actual: ObjectChecksum): void {
  if (given === undefined || given.algorithm !== actual.algorithm) return;
  const [plain = ''] = actual.value.split('-');
  if (given.value === actual.value || (actual.type === 'COMPOSITE' && given.value === plain)) return;
  throw new S3Error(
    'BadDigest',
    `The ${given.algorithm.toUpperCase()} you specified did not match the calculated checksum.`,
  );
}

/** The checksum a listing shows of a part: the upload's, where it has one. */
export function shownChecksum(part: UploadPart, upload: Upload): ObjectChecksum | undefined {
  const algorithm = upload.checksumAlgorithm;
  if (!isChecksumAlgorithm(algorithm)) return checksumInHeaders(part.checksums);
  const value = part.checksums[checksumHeader(algorithm)];
  return value === undefined ? undefined : { algorithm, value, type: 'FULL_OBJECT' };
}

/** What listings say of the checksum an upload is to have. */
export function uploadChecksumElements({ checksumAlgorithm, checksumType }: Upload): string {
  if (checksumAlgorithm === '') return '';
  return (
    element('ChecksumAlgorithm', checksumAlgorithm.toUpperCase()) + element('ChecksumType', checksumType)
  );
}
