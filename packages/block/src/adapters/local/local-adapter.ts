import { closeSync, mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { link, lstat, open, rmdir, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  AcceptPart,
  BesideUpload,
  BlockAdapter,
  BodySource,
  CompletedPart,
  CompletedUpload,
  CopyResult,
  DeleteFailure,
  DeleteManyOptions,
  MultipartUpload,
  ObjectBody,
  ObjectPointer,
  ObjectProperties,
  PropertiesOptions,
  PresignedUrl,
  PutOptions,
  PutResult,
  StorageInfo,
  StoreDeletion,
  UploadedPart,
  WalkedObject,
  WalkOptions,
} from '../../adapter.ts';
import { requireStorageUri } from '../../address.ts';
import { bytesBody, discardBody, guardBody } from '../../body.ts';
import { checkRange, checkRangeOrder } from '../../checks.ts';
import { storageInfo, type BlockLogger, type LocalStoreConfig, type OpenOptions } from '../../config.ts';
import { BlockError, notBegun } from '../../errors.ts';
import { errorCode, writeError } from './errors.ts';
import { FileWriter } from './file-writer.ts';
import { FolderSyncs } from './folder-syncs.ts';
import { MultipartFiles } from './multipart.ts';
import { isInside, LocalPaths, resolveExisting } from './paths.ts';
import { FileReader } from './read-file.ts';
import { TemporaryFiles } from './temporary-files.ts';
import { importSource, walkFiles } from './walk.ts';

/** What the local store can tell of a write: nothing that would not cost another look at the file. */
const written: PutResult = { lastModified: undefined, etag: undefined };

/** How many files go before others have their turn. */
const deletesPerSlice = 32;

/** Opens the folder as a store: creates it if missing, proves it writable, removes leftovers of dead processes. */
export async function openLocalAdapter(
  config: LocalStoreConfig,
  options: OpenOptions = {},
): Promise<BlockAdapter> {
  const root = resolve(config.path);
  try {
    const created = mkdirSync(root, { recursive: true, mode: 0o700 });
    const probe = join(root, `.svc-probe-${process.pid}`);
    writeFileSync(probe, '');
    unlinkSync(probe);
    if (created !== undefined && config.sync !== false) await syncUpTo(root, dirname(created));
  } catch (error) {
    throw new BlockError(
      'configuration',
      `the local block store needs a writable folder, but "${root}" is not: ${errorCode(error) ?? 'unknown error'}`,
      { cause: error },
    );
  }
  return new LocalAdapter(root, config, options.logger);
}

/** Makes newly created folders durable: syncs every parent from the folder's up to `top`. */
async function syncUpTo(folder: string, top: string): Promise<void> {
  for (let parent = dirname(folder); ; parent = dirname(parent)) {
    const handle = await open(parent, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (parent === top || parent === dirname(parent)) return;
  }
}

class LocalAdapter implements BlockAdapter {
  readonly type = 'local';
  readonly info: StorageInfo;
  readonly #logger: BlockLogger | undefined;
  readonly #hidden: boolean;
  readonly #paths: LocalPaths;
  readonly #reader: FileReader;
  readonly #writer: FileWriter;
  readonly #temporary: TemporaryFiles;
  readonly #multipart: MultipartFiles;

  constructor(root: string, config: LocalStoreConfig, logger: BlockLogger | undefined) {
    this.#logger = logger;
    this.info = storageInfo('local', config, {
      productionSafe: true,
      defaultNamespacePrefix: config.defaultNamespacePrefix || 'local://',
      preSignSupport: false,
      preSignSupportUi: false,
      preSignMultipartUpload: false,
      importSupport: config.importEnabled ?? false,
    });
    this.#hidden = config.importHidden ?? false;
    const sync = config.sync ?? true;
    const folders = new FolderSyncs(root, sync);
    this.#paths = new LocalPaths(root, config.allowedExternalPrefixes ?? []);
    this.#reader = new FileReader(this.#paths);
    this.#temporary = new TemporaryFiles(root);
    this.#writer = new FileWriter({ sync, paths: this.#paths, folders, temporary: this.#temporary });
    this.#multipart = new MultipartFiles({ root, sync, folders, temporary: this.#temporary });
  }

  async put(pointer: ObjectPointer, body: BodySource, options: PutOptions = {}): Promise<PutResult> {
    guardBody(body);
    let path: string;
    try {
      path = this.#locateForWrite(pointer);
    } catch (error) {
      discardBody(body);
      throw error;
    }
    try {
      await this.#writer.put(path, body, options);
    } catch (error) {
      discardBody(body);
      throw writeError(error, path);
    }
    return written;
  }

  #locateForWrite(pointer: ObjectPointer): string {
    const path = this.#paths.locate(pointer);
    this.#paths.verify(path, 'write');
    return path;
  }

  async putFile(pointer: ObjectPointer, path: string): Promise<boolean> {
    return await this.#writer.adopt(path, this.#locateForWrite(pointer));
  }

  async getFile(pointer: ObjectPointer, path: string): Promise<boolean> {
    const object = this.#paths.locate(pointer);
    this.#paths.verify(object, 'read');
    try {
      await link(object, path);
    } catch {
      // Why it cannot be read, if it cannot, is for `get` to say.
      return false;
    }
    if ((await lstat(path)).isFile()) return true;
    await unlink(path);
    return false;
  }

  getAtOnce(pointer: ObjectPointer): ObjectBody | undefined {
    return this.#reader.smallAtOnce(this.#paths.locate(pointer));
  }

  async get(pointer: ObjectPointer): Promise<ObjectBody> {
    const path = this.#paths.locate(pointer);
    const file = await this.#reader.open(path);
    if (file.stats.size > 0) return await this.#reader.body(file, path, 0, file.stats.size - 1);
    closeSync(file.fd);
    return bytesBody(Buffer.alloc(0));
  }

  async getRange(pointer: ObjectPointer, start: number, end: number): Promise<ObjectBody> {
    checkRangeOrder(start, end);
    const path = this.#paths.locate(pointer);
    const file = await this.#reader.open(path);
    let last: number;
    try {
      last = checkRange(start, end, file.stats.size);
    } catch (error) {
      closeSync(file.fd);
      throw error;
    }
    return await this.#reader.body(file, path, start, last);
  }

  async exists(pointer: ObjectPointer): Promise<boolean> {
    try {
      closeSync((await this.#reader.open(this.#paths.locate(pointer))).fd);
      return true;
    } catch (error) {
      if (error instanceof BlockError && error.kind === 'not_found') return false;
      throw error;
    }
  }

  async properties(pointer: ObjectPointer, options: PropertiesOptions = {}): Promise<ObjectProperties> {
    const file = await this.#reader.open(this.#paths.locate(pointer));
    try {
      const etag = options.skipEtag === true ? '' : await this.#reader.md5(file);
      return { size: file.stats.size, etag, lastModified: file.stats.mtime, storageClass: undefined };
    } finally {
      closeSync(file.fd);
    }
  }

  async delete(pointer: ObjectPointer): Promise<void> {
    const path = this.#locateForWrite(pointer);
    try {
      await unlink(path);
    } catch (error) {
      const code = errorCode(error);
      if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EISDIR' && code !== 'EPERM') {
        throw writeError(error, path);
      }
      if (code === 'EPERM' && (await this.exists(pointer))) throw writeError(error, path);
    }
  }

  async deleteMany(
    pointers: readonly ObjectPointer[],
    { mayGoOn }: DeleteManyOptions = {},
  ): Promise<DeleteFailure[]> {
    const failures: DeleteFailure[] = [];
    for (const [index, pointer] of pointers.entries()) {
      if (index % deletesPerSlice === 0) await nextTurn();
      try {
        const path = this.#locateForWrite(pointer);
        if (mayGoOn?.() === false) throw notBegun();
        if (!unlinkAtOnce(path)) await this.delete(pointer);
      } catch (error) {
        if (!(error instanceof BlockError)) throw error;
        failures.push({ pointer, error });
      }
    }
    return failures;
  }

  async removeEmptyFolder(pointer: ObjectPointer): Promise<void> {
    // One that is not empty, or gone, or no folder, refuses.
    await rmdir(this.#locateForWrite(pointer)).catch(() => undefined);
  }

  async copy(source: ObjectPointer, destination: ObjectPointer): Promise<CopyResult> {
    const path = this.#locateForWrite(destination);
    const sourcePath = this.#paths.locate(source);
    const file = await this.#reader.open(sourcePath);
    try {
      // By descriptor: what was verified is what is copied.
      await this.#writer.copy(process.platform === 'linux' ? `/proc/self/fd/${file.fd}` : sourcePath, path);
    } finally {
      closeSync(file.fd);
    }
    return { ...written, size: file.stats.size };
  }

  async createMultipart(
    pointer: ObjectPointer,
    options: PutOptions = {},
    beside?: BesideUpload,
  ): Promise<string> {
    const path = this.#locateForWrite(pointer);
    const ifAbsent = options.ifAbsent ?? options.fresh ?? false;
    return await this.#multipart.create({ path, ifAbsent }, beside);
  }

  async uploadPart(
    { pointer, uploadId }: MultipartUpload,
    partNumber: number,
    body: BodySource,
    accept?: AcceptPart,
  ): Promise<UploadedPart> {
    guardBody(body);
    return await this.#multipart.uploadPart(uploadId, this.#paths.locate(pointer), partNumber, body, accept);
  }

  async uploadPartCopy(
    upload: MultipartUpload,
    partNumber: number,
    source: ObjectPointer,
    range?: { readonly start: number; readonly end: number },
    accept?: AcceptPart,
  ): Promise<UploadedPart> {
    const body =
      range === undefined ? await this.get(source) : await this.getRange(source, range.start, range.end);
    return await this.uploadPart(
      upload,
      partNumber,
      body.bytes ?? { stream: body.stream(), size: body.size },
      accept,
    );
  }

  async completeMultipart(
    { pointer, uploadId }: MultipartUpload,
    parts: readonly CompletedPart[],
  ): Promise<CompletedUpload> {
    const path = this.#locateForWrite(pointer);
    return await this.#multipart.complete(uploadId, path, parts, (temporary, ifAbsent) =>
      this.#writer.publish(temporary, path, ifAbsent),
    );
  }

  async abortMultipart({ uploadId }: MultipartUpload): Promise<void> {
    await this.#multipart.abort(uploadId);
  }

  deletion(): Promise<StoreDeletion> {
    return Promise.resolve('final');
  }

  async *staleUploads(storageNamespace: string, before: Date): AsyncGenerator<MultipartUpload> {
    const folder = this.#paths.namespaceFolder(storageNamespace);
    for await (const { uploadId, path } of this.#multipart.begunBefore(before)) {
      if (path === folder || !isInside(path, folder)) continue;
      const identifier = path.slice(folder.length + 1);
      yield { uploadId, pointer: { storageNamespace, identifier, identifierType: 'relative' } };
    }
  }

  walk(uri: string, options: WalkOptions = {}): AsyncGenerator<WalkedObject[]> {
    return walkFiles(this.#paths, uri, {
      ...options,
      hidden: this.#hidden,
      onSkipped: ({ count, example }) =>
        this.#logger?.warn(
          { uri, count, example },
          'files whose names are not UTF-8 were left out: rename them to make them addressable',
        ),
    });
  }

  async importSource(uri: string): Promise<string> {
    return importSource(this.#paths, uri);
  }

  async presign(): Promise<PresignedUrl> {
    throw new BlockError(
      'not_supported',
      'operation not supported: a store of type local has no pre-signed URLs',
    );
  }

  async presignPart(): Promise<PresignedUrl> {
    return await this.presign();
  }

  async region(): Promise<undefined> {
    return undefined;
  }

  validateNamespace(storageNamespace: string): void {
    if (!storageNamespace.startsWith('local://')) {
      throw new BlockError(
        'invalid_namespace',
        `"${storageNamespace}" must match ${this.info.namespaceValidityRegex}`,
      );
    }
    this.#paths.verify(join(this.#paths.namespaceFolder(storageNamespace), 'x'), 'write');
  }

  validateAddress(pointer: ObjectPointer): void {
    this.#paths.verify(this.#paths.locate(pointer), 'read');
  }

  absoluteUri(pointer: ObjectPointer): string {
    return `local://${this.#paths.locate(pointer)}`;
  }

  async canonicalUri(uri: string): Promise<string> {
    const { host, path } = requireStorageUri('local', uri, 'invalid_address');
    const absolute = host === '' ? resolve('/', path) : this.#paths.namespaceFolder(uri);
    return `local://${resolveExisting(absolute)}`;
  }

  spellings(canonical: string): readonly string[] {
    const name = this.#paths.nameOf(canonical.slice('local://'.length));
    return name === undefined ? [canonical] : [canonical, `local://${name}`];
  }

  async close(): Promise<void> {
    this.#temporary.close();
  }
}

/** Without a wait between the caller's decision and the deed; false when `delete` must look closer. */
function unlinkAtOnce(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}
