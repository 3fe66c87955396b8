import { randomBytes } from 'node:crypto';
import type {
  BlockAdapter,
  DeleteFailure,
  MultipartUpload,
  ObjectPointer,
  WalkedObject,
  WalkOptions,
} from '../adapter.ts';
import { createMemAdapter } from '../adapters/mem.ts';
import { openBlockStore } from '../block-stores.ts';
import type { BlockStoreConfig, CommonStoreConfig } from '../config.ts';
import { BlockError } from '../errors.ts';

/** Names the store that suites run on instead of one in memory, as JSON of a `NamedStore`. */
export const namedStoreVariable = 'SVC_TEST_STORE';

export interface NamedStore {
  readonly config: BlockStoreConfig;
  /** A bucket or container that is there, without a slash at its end. */
  readonly place: string;
}

const text = process.env[namedStoreVariable];
export const namedStore = text === undefined ? undefined : (JSON.parse(text) as NamedStore);
const real = namedStore === undefined ? undefined : await openBlockStore(namedStore.config);

/**
 * An empty store in memory; where the variable names another, an empty corner of that which has the addresses of one in
 * memory, so that suites written for memory hold every kind of store to the same.
 */
export function createTestAdapter(config: CommonStoreConfig = {}): BlockAdapter {
  const mem = createMemAdapter(config);
  if (real === undefined || namedStore === undefined) return mem;
  return dressed(mem, real, `${namedStore.place}/${randomBytes(6).toString('hex')}`);
}

const scheme = 'mem://';

function dressed(mem: BlockAdapter, store: BlockAdapter, place: string): BlockAdapter {
  const inward = (uri: string): string =>
    uri.startsWith(scheme) ? `${place}/${uri.slice(scheme.length)}` : uri;
  const outward = (uri: string): string =>
    uri.startsWith(`${place}/`) ? `${scheme}${uri.slice(place.length + 1)}` : uri;
  const at = ({ storageNamespace, identifier, identifierType }: ObjectPointer): ObjectPointer => ({
    storageNamespace: inward(storageNamespace),
    identifier: identifierType === 'relative' ? identifier : inward(identifier),
    identifierType,
  });
  const of = ({ pointer, uploadId }: MultipartUpload): MultipartUpload => ({
    pointer: at(pointer),
    uploadId,
  });
  const told = (error: unknown): unknown =>
    error instanceof BlockError
      ? new BlockError(error.kind, error.message.replaceAll(`${place}/`, scheme), { cause: error })
      : error;
  const call = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      throw told(error);
    }
  };
  async function* walk(uri: string, options: WalkOptions = {}): AsyncGenerator<WalkedObject[]> {
    const after = options.after === undefined ? undefined : inward(options.after);
    try {
      for await (const page of store.walk(inward(uri), { ...options, after }))
        yield page.map((object) => ({ ...object, uri: outward(object.uri) }));
    } catch (error) {
      throw told(error);
    }
  }
  async function* staleUploads(storageNamespace: string, before: Date): AsyncGenerator<MultipartUpload> {
    for await (const { pointer, uploadId } of store.staleUploads(inward(storageNamespace), before))
      yield { pointer: { ...pointer, storageNamespace }, uploadId };
  }
  return {
    type: mem.type,
    info: mem.info,
    put: (pointer, body, options) => call(() => store.put(at(pointer), body, options)),
    get: (pointer) => call(() => store.get(at(pointer))),
    getRange: (pointer, start, end) => call(() => store.getRange(at(pointer), start, end)),
    exists: (pointer) => call(() => store.exists(at(pointer))),
    properties: (pointer, options) => call(() => store.properties(at(pointer), options)),
    delete: (pointer) => call(() => store.delete(at(pointer))),
    deleteMany: (pointers, options) =>
      call(async () => {
        const named = new Map(pointers.map((pointer) => [at(pointer), pointer]));
        const failures = await store.deleteMany([...named.keys()], options);
        return failures.map(({ pointer, error }): DeleteFailure => ({
          pointer: named.get(pointer) ?? pointer,
          error,
        }));
      }),
    copy: (from, to) => call(() => store.copy(at(from), at(to))),
    createMultipart: (pointer, options, beside) =>
      call(() => store.createMultipart(at(pointer), options, beside)),
    uploadPart: (upload, number, body, accept) =>
      call(() => store.uploadPart(of(upload), number, body, accept)),
    uploadPartCopy: (upload, number, source, range, accept) =>
      call(() => store.uploadPartCopy(of(upload), number, at(source), range, accept)),
    completeMultipart: (upload, parts) => call(() => store.completeMultipart(of(upload), parts)),
    abortMultipart: (upload) => call(() => store.abortMultipart(of(upload))),
    deletion: (namespace) => store.deletion(inward(namespace)),
    staleUploads,
    walk,
    importSource: (uri) => mem.importSource(uri),
    presign: (pointer, mode, options) => mem.presign(pointer, mode, options),
    presignPart: (upload, number) => mem.presignPart(upload, number),
    region: (namespace) => mem.region(namespace),
    validateNamespace: (namespace) => {
      mem.validateNamespace(namespace);
      store.validateNamespace(inward(namespace));
    },
    validateAddress: (pointer) => {
      mem.validateAddress(pointer);
      store.validateAddress(at(pointer));
    },
    absoluteUri: (pointer) => mem.absoluteUri(pointer),
    canonicalUri: (uri) => mem.canonicalUri(uri),
    spellings: (canonical) => mem.spellings(canonical),
    // Other corners of it are still in use.
    close: () => Promise.resolve(),
  };
}
