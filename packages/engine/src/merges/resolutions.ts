import {
  encodeEntry,
  encodeValue,
  entryIdentity,
  timestampFromMillis,
  timestampFromSeconds,
} from '@svc/encoding';
import { addressRelative, emptyStringMap, type Entry } from '@svc/encoding';
import { compilePathGlob, PatternError } from '@svc/patterns';
import { packTake } from '../committed/operations/conflict-policy.ts';
import type { PatternResolution, RecordIterator, Take, TreeRecord } from '../committed/tree.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { Addition, Resolution, ResolutionObject } from '../face/merges.ts';
import { parseKey } from '../names/names.ts';
import { acceptAddress } from '../objects/given-address.ts';
import { checkDescription, checkLinkedSize, unquoted } from '../objects/stage-object.ts';
import { defaultContentType } from '../objects/upload-object.ts';
import { checkMetadata } from '../staging/write.ts';
import type { RepositoryScope } from '../store/scope.ts';

const maxResolutions = 20_000;
const maxPatterns = 1000;
const maxGlobBytes = 1024;
const conflictIdPattern = /^[0-9a-f]{32}$/;

/** A resolution of one path, checked. */
export interface PathResolution {
  readonly key: Buffer;
  readonly path: string;
  readonly take: Take;
  readonly conflictId: Buffer | undefined;
  /** In stored form, for `object`. */
  readonly value: Buffer | undefined;
}

export interface Resolutions {
  readonly patterns: readonly PatternResolution[];
  /** In key order. */
  readonly exact: readonly PathResolution[];
}

/** Whether each of the resolutions names the very conflict it is for, so that nothing has to be pinned. */
export function areByConflict(resolutions: readonly Resolution[]): boolean {
  return resolutions.every(({ conflictId }) => conflictId !== undefined);
}

/** Checks resolutions as far as one can without looking at conflicts. */
export async function parseResolutions(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
  resolutions: readonly Resolution[],
): Promise<Resolutions> {
  if (resolutions.length > maxResolutions) {
    throw invalid(`resolutions: ${resolutions.length} are more than ${maxResolutions}`);
  }
  const patterns: PatternResolution[] = [];
  const exact = new Map<string, PathResolution>();
  for (const [index, resolution] of resolutions.entries()) {
    try {
      const { path, prefix, glob } = resolution;
      if ([path, prefix, glob].filter((each) => each !== undefined).length !== 1) {
        throw invalid('give exactly one of path, prefix and glob');
      }
      if (path === undefined) {
        patterns.push(parsePattern(resolution));
        if (patterns.length > maxPatterns) throw invalid(`more than ${maxPatterns} prefixes and globs`);
        continue;
      }
      if (exact.has(path)) throw invalid(`the path "${path}" has a resolution already`);
      exact.set(path, await parsePath(context, scope, branch, { ...resolution, path }));
    } catch (error) {
      throw inResolution(index, error);
    }
  }
  const sorted = [...exact.values()].sort((left, right) => Buffer.compare(left.key, right.key));
  return { patterns, exact: sorted };
}

function inResolution(index: number, error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  const options = { cause: error, ...(error.subject !== undefined && { subject: error.subject }) };
  return new EngineError(error.kind, `resolutions[${index}]: ${error.message}`, options);
}

function parsePattern({ prefix, glob, take, conflictId, object }: Resolution): PatternResolution {
  if (take === 'object' || object !== undefined) throw invalid('an object needs a path');
  if (conflictId !== undefined) throw invalid('a conflict_id needs a path');
  if (prefix !== undefined) return { kind: 'prefix', pattern: prefix, take };
  const pattern = glob ?? '';
  if (Buffer.byteLength(pattern) > maxGlobBytes) throw invalid(`glob: longer than ${maxGlobBytes} bytes`);
  try {
    compilePathGlob(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw invalid(`glob: ${error.message}, at position ${error.position}`);
  }
  return { kind: 'glob', pattern, take };
}

async function parsePath(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
  { path, take, conflictId, object }: Resolution & { readonly path: string },
): Promise<PathResolution> {
  const key = parseKey(path);
  if (take === 'fail') throw invalid('take "fail" needs a prefix or a glob');
  if ((take === 'object') !== (object !== undefined)) {
    throw invalid('take "object" and an object need each other');
  }
  if (conflictId !== undefined && !conflictIdPattern.test(conflictId)) {
    throw invalid('conflict_id: expected 32 hexadecimal digits');
  }
  return {
    key,
    path,
    take,
    conflictId: conflictId === undefined ? undefined : Buffer.from(conflictId, 'hex'),
    value:
      object &&
      (await storedObject(context, scope, { repository: scope.repository.id, branch, path }, object)),
  };
}

/** Records to be added to a merged tree, in key order. */
export async function parseAdditions(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
  additions: readonly Addition[],
): Promise<TreeRecord[]> {
  const records: TreeRecord[] = [];
  for (const { path, object } of additions) {
    const key = parseKey(path);
    const claim = { repository: scope.repository.id, branch, path };
    const { identity, data } = await objectRecord(context, scope, claim, object);
    records.push({ key, identity, data });
  }
  return records.sort((left, right) => Buffer.compare(left.key, right.key));
}

async function storedObject(...object: Parameters<typeof objectRecord>): Promise<Buffer> {
  const { identity, data } = await objectRecord(...object);
  return encodeValue(identity, data);
}

/** The record of data that was written for a resolution. */
async function objectRecord(
  context: EngineContext,
  scope: RepositoryScope,
  claim: { readonly repository: string; readonly branch: string; readonly path: string },
  object: ResolutionObject,
): Promise<Pick<TreeRecord, 'identity' | 'data'>> {
  if (object.checksum === '') throw invalid('checksum is required', 'object');
  checkDescription(object);
  const { given } = await acceptAddress(context, {
    scope,
    claim,
    physicalAddress: object.physicalAddress,
    signatureRequired: true,
    rights: { checkImport: refuseForeign },
  });
  if (given.addressType !== addressRelative) refuseForeign();
  await checkLinkedSize(context, scope, given, object);
  const entry: Entry = {
    ...given,
    lastModified:
      object.mtime === undefined ? timestampFromMillis(context.clock()) : timestampFromSeconds(object.mtime),
    size: object.size,
    etag: unquoted(object.checksum),
    metadata: object.metadata ?? emptyStringMap,
    contentType: object.contentType ?? defaultContentType,
  };
  checkMetadata(entry);
  return { identity: entryIdentity(entry), data: encodeEntry(entry) };
}

function refuseForeign(): never {
  throw invalid('the physical address was not made for this repository, branch and path', 'object');
}

/** The resolutions of single paths, as trees take them. */
export function pathRecords(exact: readonly PathResolution[]): RecordIterator {
  const noBytes = Buffer.alloc(0);
  return new ListedRecords(
    exact.map(({ key, take, conflictId, value }) => ({
      key,
      identity: packTake(take, conflictId),
      data: value ?? noBytes,
    })),
  );
}

/** A few records in key order. */
export class ListedRecords implements RecordIterator {
  readonly #records: readonly TreeRecord[];
  #at = -1;

  constructor(records: readonly TreeRecord[]) {
    this.#records = records;
  }

  get key(): Buffer {
    return this.#current().key;
  }

  get identity(): Buffer {
    return this.#current().identity;
  }

  get data(): Buffer {
    return this.#current().data;
  }

  next(): boolean {
    this.#at += 1;
    return this.#at < this.#records.length;
  }

  seek(key: Uint8Array): void {
    const found = this.#records.findIndex((record) => Buffer.compare(record.key, key) >= 0);
    this.#at = (found < 0 ? this.#records.length : found) - 1;
  }

  close(): void {}

  #current(): TreeRecord {
    const record = this.#records[this.#at];
    if (record === undefined) throw new Error('the list stands at no record');
    return record;
  }
}
