import type { StringMap } from '@svc/encoding';

/** Checksums of S3 that are kept with an object. */
export const checksumAlgorithms = [
  'crc32',
  'crc32c',
  'crc64nvme',
  'sha1',
  'sha256',
  'sha512',
  'md5',
  'xxhash64',
  'xxhash3',
  'xxhash128',
] as const;

export type ChecksumName = (typeof checksumAlgorithms)[number];

/** `COMPOSITE`: over the checksums of the parts rather than over the bytes. */
export type ChecksumType = 'FULL_OBJECT' | 'COMPOSITE';

export interface ObjectChecksum {
  readonly algorithm: ChecksumName;
  readonly type: ChecksumType;
  /** Base64; a composite one ends with `-` and the number of parts. */
  readonly value: string;
}

/** The parts an object was uploaded in. */
export interface ObjectParts {
  readonly sizes: readonly number[];
  /** Of which algorithm the parts' checksums are; undefined where none are kept. */
  readonly algorithm: ChecksumName | undefined;
  /** Base64, one for each part. */
  readonly checksums: readonly string[];
}

const checksumPrefix = '::svc::checksum-';
const typeKey = '::svc::checksum-type';
const partsKey = '::svc::parts';
/** Checksums of parts beyond this are left out: an entry is read with every listing. */
const maxPartsText = 64 * 1024;

const base64 = /^[A-Za-z0-9+/]{4,120}={0,2}(?:-[1-9]\d{0,4})?$/;
const partsText = /^\d+(?:x\d+)?(?:,\d+(?:x\d+)?)*(?:;[a-z0-9]+:[A-Za-z0-9+/]+={0,2})?$/;

export const digestBytes: Readonly<Record<ChecksumName, number>> = {
  crc32: 4,
  crc32c: 4,
  crc64nvme: 8,
  sha1: 20,
  sha256: 32,
  sha512: 64,
  md5: 16,
  xxhash64: 8,
  xxhash3: 8,
  xxhash128: 16,
};

export function isChecksumName(name: string): name is ChecksumName {
  return Object.hasOwn(digestBytes, name);
}

/** Whether a reserved key and its value say something about the bytes of an object, as only we write it. */
export function isContentMetadata(key: string, value: string): boolean {
  if (key === typeKey) return value === 'COMPOSITE' || value === 'FULL_OBJECT';
  if (key === partsKey) return value.length <= maxPartsText && partsText.test(value);
  return (
    key.startsWith(checksumPrefix) && isChecksumName(key.slice(checksumPrefix.length)) && base64.test(value)
  );
}

/** Adds a checksum to the metadata of an entry. That it is of the whole object goes without saying. */
export function addChecksum(metadata: Record<string, string>, checksum: ObjectChecksum): void {
  metadata[checksumPrefix + checksum.algorithm] = checksum.value;
  if (checksum.type === 'COMPOSITE') metadata[typeKey] = checksum.type;
}

/** The checksum kept with an object. */
export function checksumOf(metadata: StringMap): ObjectChecksum | undefined {
  for (const algorithm of checksumAlgorithms) {
    const value = metadata[checksumPrefix + algorithm];
    if (value !== undefined && base64.test(value))
      return { algorithm, value, type: metadata[typeKey] === 'COMPOSITE' ? 'COMPOSITE' : 'FULL_OBJECT' };
  }
  return undefined;
}

/** Adds the sizes of the parts and, where there is room, their checksums: `8388608x12,77;crc32:…`. */
export function addParts(metadata: Record<string, string>, parts: ObjectParts): void {
  const runs: { size: number; count: number }[] = [];
  for (const size of parts.sizes) {
    const last = runs.at(-1);
    if (last?.size === size) last.count += 1;
    else runs.push({ size, count: 1 });
  }
  const sizes = runs.map(({ size, count }) => (count === 1 ? String(size) : `${size}x${count}`)).join(',');
  if (sizes.length > maxPartsText) return;
  const digests =
    parts.algorithm !== undefined && parts.checksums.length === parts.sizes.length
      ? Buffer.concat(parts.checksums.map((value) => Buffer.from(value, 'base64'))).toString('base64')
      : '';
  const whole = `${sizes};${parts.algorithm ?? ''}:${digests}`;
  metadata[partsKey] = digests !== '' && whole.length <= maxPartsText ? whole : sizes;
}

/** The parts of an object that was uploaded in parts; undefined where nothing, or nothing sound, is known of them. */
export function partsOf(metadata: StringMap, objectSize: number): ObjectParts | undefined {
  const text = metadata[partsKey];
  if (text === undefined || !isContentMetadata(partsKey, text)) return undefined;
  const [runs = '', kept = ''] = text.split(';', 2);
  const sizes: number[] = [];
  let total = 0;
  for (const run of runs.split(',')) {
    const [size = 0, count = 1] = run.split('x').map(Number);
    total += size * count;
    if (count > 10_000 || sizes.length + count > 10_000 || total > objectSize) return undefined;
    for (let i = 0; i < count; i++) sizes.push(size);
  }
  if (total !== objectSize) return undefined;
  const [name = '', digests = ''] = kept.split(':', 2);
  const length = isChecksumName(name) ? digestBytes[name] : 0;
  const bytes = Buffer.from(digests, 'base64');
  if (!isChecksumName(name) || bytes.length !== length * sizes.length)
    return { sizes, algorithm: undefined, checksums: [] };
  const checksums = sizes.map((_, i) => bytes.toString('base64', i * length, (i + 1) * length));
  return { sizes, algorithm: name, checksums };
}
