import { checksumOf, partsOf, type ObjectChecksum, type ObjectEntry } from '@svc/engine';
import { invalidArgument } from '../errors/invalid-argument.ts';
import { S3Error } from '../errors/s3-error.ts';
import type { ByteRange } from '../request/range.ts';
import { headerText, type S3Request } from '../request/s3-request.ts';

/** What `?partNumber=n` names. */
export interface PartRead {
  /** Undefined: the whole object, which is empty. */
  readonly range: ByteRange | undefined;
  /** How many parts the object has; undefined where it was not uploaded in parts. */
  readonly count: number | undefined;
  /** Undefined where it is not kept. */
  readonly checksum: ObjectChecksum | undefined;
}

/** A part of an object as it was uploaded. One that was not uploaded in parts is its own first part. */
export function partReadOf(request: S3Request, entry: ObjectEntry): PartRead | undefined {
  const text = request.query.text('partNumber');
  if (text === undefined) return undefined;
  const number = readPartNumber(text);
  if (headerText(request, 'range') !== undefined)
    throw new S3Error('InvalidRequest', 'Cannot specify both Range header and partNumber query parameter');
  const parts = partsOf(entry.metadata, entry.size);
  const sizes = parts?.sizes ?? [entry.size];
  const size = sizes[number - 1];
  if (size === undefined)
    throw new S3Error('InvalidPartNumber', undefined, {
      headers: { 'Content-Range': `bytes */${entry.size}` },
      elements: [
        ['ActualPartCount', String(sizes.length)],
        ['PartNumberRequested', text],
      ],
    });
  const start = sizes.slice(0, number - 1).reduce((sum, each) => sum + each, 0);
  const value = parts?.checksums[number - 1];
  const whole = checksumOf(entry.metadata);
  return {
    range: size === 0 ? undefined : { start, end: start + size - 1 },
    count: parts?.sizes.length,
    checksum:
      parts === undefined
        ? whole
        : whole?.type === 'COMPOSITE' && parts.algorithm !== undefined && value !== undefined
          ? { algorithm: parts.algorithm, value, type: whole.type }
          : undefined,
  };
}

export function readPartNumber(text: string): number {
  const number = Number(text);
  if (!/^\d{1,5}$/.test(text) || number < 1 || number > 10_000)
    throw invalidArgument(
      'Part number must be an integer between 1 and 10000, inclusive.',
      'partNumber',
      text,
    );
  return number;
}

/** The checksum of what is read, where one is known of exactly that. */
export function readChecksum(
  entry: ObjectEntry,
  range: ByteRange | undefined,
  part: PartRead | undefined,
): ObjectChecksum | undefined {
  if (part !== undefined) return part.checksum;
  const isWhole = range === undefined || (range.start === 0 && range.end === entry.size - 1);
  return isWhole ? checksumOf(entry.metadata) : partChecksum(entry, range);
}

/** A range that is a part, as it was uploaded, has the checksum of the part. */
function partChecksum(entry: ObjectEntry, range: ByteRange): ObjectChecksum | undefined {
  const parts = partsOf(entry.metadata, entry.size);
  if (parts?.algorithm === undefined || checksumOf(entry.metadata)?.type !== 'COMPOSITE') return undefined;
  let start = 0;
  for (const [index, size] of parts.sizes.entries()) {
    if (start > range.start) return undefined;
    if (start === range.start && range.end === start + size - 1)
      return { algorithm: parts.algorithm, value: parts.checksums[index] ?? '', type: 'COMPOSITE' };
    start += size;
  }
  return undefined;
}
