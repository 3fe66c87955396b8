import type { KvStore } from '@svc/kv';
import { isTableId } from '../committed/format/table-id.ts';
import { invalid } from '../context/refusals.ts';

export const maxKeyBytes = 1024;
export const maxBranchNameBytes = 1024;
const maxTagNameBytes = 1024;
/** What a key made from a name has besides it: prefixes, times, ids. */
const derivedKeyBytes = 124;

const repositoryPattern = /^[a-z0-9][a-z0-9-]{2,62}$/;
const branchPattern = /^[0-9A-Za-z_][-0-9A-Za-z_]*$/;
// Code points up to 0x20 are refused on purpose.
// oxlint-disable-next-line no-control-regex
const tagForbidden = /[\u0000-\u0020^:?*[\\/]|\.\.|@\{/;

export function required(argument: string): Error {
  return invalid(`argument ${argument}: required value: validation error`);
}

export function checkRepositoryName(name: string): void {
  if (!repositoryPattern.test(name)) {
    throw invalid('argument repository: repository id: invalid value: validation error', 'repository');
  }
}

export function isBranchName(name: string): boolean {
  return name.length <= maxBranchNameBytes && branchPattern.test(name);
}

export function checkBranchName(name: string, argument = 'branch'): void {
  if (name === '') throw required(argument);
  if (!isBranchName(name))
    throw invalid(`argument ${argument}: branch id: invalid value: validation error`, 'branch');
}

/** For new branches: says what a name may look like. */
export function checkNewBranchName(name: string, argument = 'branch'): void {
  if (name === '') throw required(argument);
  if (name.length > maxBranchNameBytes) {
    throw invalid(`argument ${argument}: branch id is longer than ${maxBranchNameBytes} bytes`, 'branch');
  }
  if (!branchPattern.test(name)) {
    throw invalid(
      `argument ${argument}: invalid value: validation error: branch id must consist of letters, digits, underscores and dashes, and cannot start with a dash`,
      'branch',
    );
  }
}

export function checkTagName(name: string): void {
  if (name === '') throw required('tag');
  const long = Buffer.byteLength(name) > maxTagNameBytes;
  const bad = long || name === '@' || name.endsWith('.') || name.endsWith('.lock') || tagForbidden.test(name);
  if (bad || !name.isWellFormed())
    throw invalid('argument tag: tag id: invalid value: validation error', 'tag');
}

/** Refuses a new name when some key made from it would be too long for the store. */
export function checkRoomForKeys(
  kv: Pick<KvStore, 'maxKeyBytes'>,
  partition: Uint8Array,
  name: string,
  argument: string,
): void {
  const limit = kv.maxKeyBytes(partition) - derivedKeyBytes;
  if (Buffer.byteLength(name) <= limit) return;
  throw invalid(
    `argument ${argument}: "${name}" is longer than ${limit} bytes, which is what this key-value store takes`,
  );
}

/** Ids of commits and trees are hashes of what they stand for. */
export function checkHashId(id: string, argument: string): void {
  if (!isTableId(id)) {
    throw invalid(
      `argument ${argument}: invalid value: validation error: expected 64 hexadecimal digits`,
      'commit',
    );
  }
}

/** The bytes of an object key. */
export function parseKey(path: string, argument = 'path'): Buffer {
  if (path === '')
    throw invalid(`argument ${argument}: missing path: required value: validation error`, 'object');
  return boundedBytes(path, argument);
}

/** The bytes of a listing prefix, which may be empty. */
export function parsePrefix(prefix: string): Buffer {
  return boundedBytes(prefix, 'prefix');
}

function boundedBytes(text: string, argument: string): Buffer {
  if (!text.isWellFormed())
    throw invalid(`argument ${argument}: invalid value: validation error: not UTF-8`, 'object');
  const bytes = Buffer.from(text);
  if (bytes.length > maxKeyBytes) {
    throw invalid(
      `argument ${argument}: invalid value: validation error: ${bytes.length} is above maximum length (${maxKeyBytes})`,
      'object',
    );
  }
  return bytes;
}
