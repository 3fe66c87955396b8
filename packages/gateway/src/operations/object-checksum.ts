import {
  addChecksum,
  checksumOf,
  type ChecksumName,
  type ObjectChecksum,
  type ObjectEntry,
} from '@svc/engine';
import type { StringMap } from '@svc/encoding';
import { checksumHeader, isChecksumAlgorithm } from '../body/checksums.ts';
import type { RequestBody } from '../body/request-body.ts';
import type { Call } from '../call.ts';
import { element } from '../xml/write.ts';

/** What is computed where the client names no checksum, as S3 does. */
const defaultChecksum: ChecksumName = 'crc64nvme';
/** Larger bodies get only what is asked for: another digest of them costs as much as half the one that makes the ETag. */
const defaultChecksumBytes = 1024 * 1024;

/** The checksum a body gets for which the client sends none. */
export function unaskedChecksum(body: RequestBody): ChecksumName | undefined {
  return body.size >= 0 && body.size <= defaultChecksumBytes ? defaultChecksum : undefined;
}

/** The checksum of a body, verified or computed, as metadata of the entry. */
export function checksumMetadata(headers: Readonly<Record<string, string>>): StringMap | undefined {
  const checksum = checksumInHeaders(headers);
  if (checksum === undefined) return undefined;
  const metadata = Object.create(null) as Record<string, string>;
  addChecksum(metadata, checksum);
  return metadata;
}

/** The checksum among headers by name, as parts remember them. */
export function checksumInHeaders(headers: StringMap): ObjectChecksum | undefined {
  for (const name in headers) {
    const algorithm = name.slice('x-amz-checksum-'.length);
    const value = headers[name];
    if (isChecksumAlgorithm(algorithm) && value !== undefined)
      return { algorithm, value, type: 'FULL_OBJECT' };
  }
  return undefined;
}

/** The headers that tell an object's checksum. */
export function addChecksumHeaders(
  headers: Record<string, string>,
  checksum: ObjectChecksum | undefined,
): void {
  if (checksum === undefined) return;
  headers[checksumHeader(checksum.algorithm)] = checksum.value;
  headers['x-amz-checksum-type'] = checksum.type;
}

/** `<ChecksumCRC32>…</ChecksumCRC32>`, and the type where the document tells it. */
export function checksumElements(checksum: ObjectChecksum | undefined, withType: boolean): string {
  if (checksum === undefined) return '';
  const value = element(`Checksum${checksum.algorithm.toUpperCase()}`, checksum.value);
  return withType ? value + element('ChecksumType', checksum.type) : value;
}

export function wantsChecksum(call: Call): boolean {
  return call.request.headers.get('x-amz-checksum-mode')?.toUpperCase() === 'ENABLED';
}

export function entryChecksum(entry: ObjectEntry): ObjectChecksum | undefined {
  return checksumOf(entry.metadata);
}
