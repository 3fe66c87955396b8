import type { BlockstoreType, ObjectPointer } from './adapter.ts';
import { BlockError } from './errors.ts';

const schemes: Readonly<Record<string, BlockstoreType>> = {
  s3: 's3',
  gs: 'gs',
  local: 'local',
  mem: 'mem',
  memory: 'mem',
  http: 'azure',
  https: 'azure',
};

/** A storage URI cut at its first slashes; nothing is decoded, so percent-escapes stay as written. */
export interface StorageUri {
  readonly type: BlockstoreType;
  /** Bucket or namespace name; empty in `local:///absolute/path`. */
  readonly host: string;
  /** What follows the host, with its leading `/`; empty when nothing follows. */
  readonly path: string;
}

/** Undefined when the text is no URI of a known scheme. */
export function parseStorageUri(text: string): StorageUri | undefined {
  const separator = text.indexOf('://');
  if (separator <= 0) return undefined;
  const type = schemes[text.slice(0, separator).toLowerCase()];
  if (type === undefined) return undefined;
  const start = separator + 3;
  const slash = text.indexOf('/', start);
  return slash < 0
    ? { type, host: text.slice(start), path: '' }
    : { type, host: text.slice(start, slash), path: text.slice(slash) };
}

/** Parses a URI that must belong to a store of the given type. */
export function requireStorageUri(
  type: BlockstoreType,
  text: string,
  kind: 'invalid_address' | 'invalid_namespace',
): StorageUri {
  const uri = parseStorageUri(text);
  if (uri === undefined)
    throw new BlockError(kind, `"${text}" is not a storage URI such as ${type}://name/path`);
  if (uri.type !== type) throw new BlockError(kind, `"${text}" does not belong to a store of type ${type}`);
  return uri;
}

/** Whether the pointer's identifier is a full URI; old entries say so only by being one. */
export function isFullAddress(pointer: ObjectPointer): boolean {
  if (pointer.identifierType === 'full') return true;
  return pointer.identifierType === 'unknown' && parseStorageUri(pointer.identifier) !== undefined;
}

/** An object of a bucket store: bucket and key as the store knows them. */
export interface BucketObject {
  readonly bucket: string;
  readonly key: string;
}

/** The address table of bucket stores (mem, s3, gs): relative keys are appended as they are, full ones kept verbatim. */
export function resolveBucketObject(type: BlockstoreType, pointer: ObjectPointer): BucketObject {
  if (isFullAddress(pointer)) {
    const uri = requireStorageUri(type, pointer.identifier, 'invalid_address');
    const key = uri.path.slice(1);
    if (uri.host === '' || key === '') {
      throw new BlockError(
        'invalid_address',
        `"${pointer.identifier}" names no object: expected ${type}://bucket/key`,
      );
    }
    return { bucket: uri.host, key };
  }
  if (pointer.identifier === '') throw new BlockError('invalid_address', 'the object address is empty');
  const { bucket, key: prefix } = resolveBucketPrefix(type, pointer.storageNamespace);
  return { bucket, key: prefix === '' ? pointer.identifier : `${prefix}/${pointer.identifier}` };
}

/** Bucket and prefix (without one trailing `/`) of a storage namespace. */
export function resolveBucketPrefix(type: BlockstoreType, storageNamespace: string): BucketObject {
  const uri = requireStorageUri(type, storageNamespace, 'invalid_namespace');
  if (uri.host === '') {
    throw new BlockError(
      'invalid_namespace',
      `"${storageNamespace}" names no bucket: expected ${type}://bucket/prefix`,
    );
  }
  const path = uri.path.slice(1);
  return { bucket: uri.host, key: path.endsWith('/') ? path.slice(0, -1) : path };
}

/** Bucket, prefix and the part of the prefix that relative keys leave out, for a listing. */
export function resolveWalk(
  type: BlockstoreType,
  uri: string,
): BucketObject & { readonly baseLength: number } {
  const parsed = requireStorageUri(type, uri, 'invalid_address');
  if (parsed.host === '')
    throw new BlockError('invalid_address', `"${uri}" names no bucket: expected ${type}://bucket/prefix`);
  const key = parsed.path.slice(1);
  return { bucket: parsed.host, key, baseLength: key.lastIndexOf('/') + 1 };
}

/** The key a walk continues after, or undefined to start at the beginning. */
export function resolveWalkAfter(
  type: BlockstoreType,
  bucket: string,
  after: string | undefined,
): string | undefined {
  if (after === undefined) return undefined;
  const parsed = requireStorageUri(type, after, 'invalid_address');
  if (parsed.host !== bucket) {
    throw new BlockError(
      'invalid_address',
      `the walk cannot continue after "${after}": it is not in bucket "${bucket}"`,
    );
  }
  return parsed.path.slice(1);
}

/**
 * One comparable spelling of a bucket URI: canonical scheme, bucket in lower case, no empty or dot segments. A store
 * may tell such names apart or take them for one, so that whoever asks for permission must not.
 */
export function canonicalBucketUri(type: BlockstoreType, uri: string): string {
  const { host, path } = requireStorageUri(type, uri, 'invalid_address');
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return [`${type}://${host.toLowerCase()}`, ...segments].join('/');
}
