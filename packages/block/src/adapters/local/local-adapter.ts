import { closeSync, mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { copyFile, constants, link, lstat, open, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type {
  AcceptPart,
  BlockAdapter,
  BodySource,
  CompletedPart,
  CompletedUpload,
  CopyResult,
  DeleteFailure,
  MultipartUpload,
  ObjectBody,
  ObjectPointer,
  ObjectProperties,
  PropertiesOptions,
  PresignedUrl,
  PutOptions,
  PutResult,
  StorageInfo,
  UploadedPart,
  WalkedObject,
  WalkOptions,
} from '../../adapter.ts';
import { requireStorageUri } from '../../address.ts';
import { bytesBody, discardBody, guardBody } from '../../body.ts';
import { checkRange, checkRangeOrder } from '../../checks.ts';
import { storageInfo, type BlockLogger, type LocalStoreConfig, type OpenOptions } from '../../config.ts';
import { BlockError } from '../../errors.ts';
import { errorCode, writeError } from './errors.ts';
import { FolderSyncs } from './folder-syncs.ts';
import { moveFile } from './move-file.ts';
import { MultipartFiles } from './multipart.ts';
import { isInside, LocalPaths, resolveExisting } from './paths.ts';
import { FileReader } from './read-file.ts';
import { TemporaryFiles } from './temporary-files.ts';
import { importSource, walkFiles } from './walk.ts';
import { writeNewFile } from './write-file.ts';

/** What the local store can tell of a write: nothing that would not cost another look at the file. */
const written: PutResult = { lastModified: undefined, etag: undefined };

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

/** Another file system, or one that has no links or no more of them. */
const linkless = new Set(['EXDEV', 'EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

class LocalAdapter implements BlockAdapter {
  readonly type = 'local';
  readonly info: StorageInfo;
  readonly #logger: BlockLogger | undefined;
  readonly #hidden: boolean;
  readonly #sync: boolean;
  readonly #paths: LocalPaths;
  readonly #reader: FileReader;
  readonly #folders: FolderSyncs;
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
    this.#sync = config.sync ?? true;
    this.#paths = new LocalPaths(root, config.allowedExternalPrefixes ?? []);
    this.#reader = new FileReader(this.#paths);
    this.#folders = new FolderSyncs(root, this.#sync);
    this.#temporary = new TemporaryFiles(root);
    this.#multipart = new MultipartFiles({
      root,
      sync: this.#sync,
      folders: this.#folders,
      temporary: this.#temporary,
    });
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
      if (options.fresh === true) await this.#putInPlace(path, body, options);
      else if (options.immutable === true) await this.#putImmutable(path, body, options);
      else await this.#putByName(path, body, options);
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

  async #putInPlace(path: string, body: BodySource, options: PutOptions): Promise<void> {
    const folder = dirname(path);
    if (!this.#folders.isDurable(folder)) await this.#ensureFolder(folder);
    const writing = {
      sync: this.#sync,
      signal: options.signal,
      syncEntry: (): Promise<void> => this.#folders.sync(folder),
      leaveUnfinished: options.immutable === true,
    };
    try {
      await writeNewFile(path, body, writing);
    } catch (error) {
      // Someone removed the folder since we saw it. A stream is spent by then, so its caller must try again.
      if (errorCode(error) !== 'ENOENT') throw error;
      this.#forgetFolder(folder);
      if (!(body instanceof Uint8Array)) throw error;
      await this.#ensureFolder(folder);
      await writeNewFile(path, body, writing);
    }
  }

  async #putImmutable(path: string, body: BodySource, options: PutOptions): Promise<void> {
    try {
      await this.#putInPlace(path, body, options);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
      // It may be unfinished: never trusted, always replaced by a whole one.
      await this.#putByName(path, body, options);
    }
  }

  async #putByName(path: string, body: BodySource, options: PutOptions): Promise<void> {
    const temporary = this.#temporary.next();
    await writeNewFile(temporary, body, { sync: this.#sync, signal: options.signal });
    try {
      await this.#publish(temporary, path, options.ifAbsent ?? false);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  }

  async putFile(pointer: ObjectPointer, path: string): Promise<boolean> {
    const target = this.#locateForWrite(pointer);
    const temporary = this.#temporary.next();
    try {
      await link(path, temporary);
    } catch (error) {
      if (linkless.has(errorCode(error) ?? '')) return false;
      throw writeError(error, target);
    }
    try {
      if (this.#sync) await syncFile(temporary);
      await this.#publish(temporary, target, false);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw writeError(error, target);
    }
    return true;
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

  /** Gives a whole, synced file its name, durably. */
  async #publish(temporary: string, path: string, ifAbsent: boolean): Promise<void> {
    const folder = dirname(path);
    await this.#ensureFolder(folder);
    const move = async (): Promise<void> => {
      if (ifAbsent) await link(temporary, path);
      else await moveFile(temporary, path);
    };
    try {
      await move();
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      this.#forgetFolder(folder);
      await this.#ensureFolder(folder);
      await move();
    }
    await this.#folders.sync(folder);
    if (ifAbsent) await unlink(temporary);
  }

  async #ensureFolder(folder: string): Promise<void> {
    if (this.#folders.isDurable(folder)) return;
    await this.#folders.ensure(folder);
    // A link may have appeared where a folder was about to be created.
    this.#paths.forget(folder);
    this.#paths.verify(join(folder, 'x'), 'write');
  }

  #forgetFolder(folder: string): void {
    this.#folders.forget(folder);
    this.#paths.forget(folder);
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

  async deleteMany(pointers: readonly ObjectPointer[]): Promise<DeleteFailure[]> {
    const failures: DeleteFailure[] = [];
    for (const pointer of pointers) {
      try {
        await this.delete(pointer);
      } catch (error) {
        if (!(error instanceof BlockError)) throw error;
        failures.push({ pointer, error });
      }
    }
    return failures;
  }

  async copy(source: ObjectPointer, destination: ObjectPointer): Promise<CopyResult> {
    const path = this.#locateForWrite(destination);
    const sourcePath = this.#paths.locate(source);
    const file = await this.#reader.open(sourcePath);
    const temporary = this.#temporary.next();
    try {
      // By descriptor: what was verified is what is copied.
      const from = process.platform === 'linux' ? `/proc/self/fd/${file.fd}` : sourcePath;
      await copyFile(from, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      if (this.#sync) {
        const handle = await open(temporary, 'r+');
        try {
          await handle.datasync();
        } finally {
          await handle.close();
        }
      }
      await this.#publish(temporary, path, false);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw writeError(error, path);
    } finally {
      closeSync(file.fd);
    }
    return { ...written, size: file.stats.size };
  }

  async createMultipart(pointer: ObjectPointer, options: PutOptions = {}): Promise<string> {
    const path = this.#locateForWrite(pointer);
    return await this.#multipart.create({ path, ifAbsent: options.ifAbsent ?? options.fresh ?? false });
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
      this.#publish(temporary, path, ifAbsent),
    );
  }

  async abortMultipart({ uploadId }: MultipartUpload): Promise<void> {
    await this.#multipart.abort(uploadId);
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
