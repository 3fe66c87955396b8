import { createHash, randomBytes } from 'node:crypto';
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
} from 'node:fs/promises';
import { join } from 'node:path';
import type {
  AcceptPart,
  BesideUpload,
  BodySource,
  CompletedPart,
  CompletedUpload,
  UploadedPart,
} from '../../adapter.ts';
import { discardBody, multipartEtag } from '../../body.ts';
import { checkPartList, checkPartNumber } from '../../checks.ts';
import { BlockError } from '../../errors.ts';
import { errorCode, isLinkless, writeError } from './errors.ts';
import { folderMode, type FolderSyncs } from './folder-syncs.ts';
import { multipartFolder } from './paths.ts';
import type { TemporaryFiles } from './temporary-files.ts';
import { writeNewFile } from './write-file.ts';

const targetFile = 'target';
const copyUnit = 4 * 1024 * 1024;

/** What an upload was created for. */
interface Target {
  readonly path: string;
  readonly ifAbsent: boolean;
}

interface PartTurn {
  readonly begins: Promise<void>;
  end(): void;
}

export interface MultipartFilesOptions {
  readonly root: string;
  readonly sync: boolean;
  readonly folders: FolderSyncs;
  readonly temporary: TemporaryFiles;
}

/**
 * Uploads in progress: one folder each below the root's own folder, one file per part. A part's file is called
 * `<number>.<md5>`, so that its etag needs no second file and replacing a part cannot mix two.
 */
export class MultipartFiles {
  readonly #options: MultipartFilesOptions;
  readonly #parent: string;
  readonly #publishing = new Map<string, Promise<void>>();

  constructor(options: MultipartFilesOptions) {
    this.#options = options;
    this.#parent = join(options.root, multipartFolder);
  }

  #folder(uploadId: string): string {
    if (!isUploadId(uploadId)) throw uploadNotFound(uploadId);
    return join(this.#parent, uploadId);
  }

  async create(target: Target, beside?: BesideUpload): Promise<string> {
    const uploadId = randomBytes(16).toString('hex');
    const folder = this.#folder(uploadId);
    try {
      const { folders, sync } = this.#options;
      await folders.ensure(this.#parent);
      await this.#makeFolder(folder);
      await writeNewFile(join(folder, targetFile), Buffer.from(JSON.stringify(target)), {
        sync,
        beside: () => Promise.all([folders.sync(folder), folders.sync(this.#parent), beside?.(uploadId)]),
      });
    } catch (error) {
      // The first error is the one to report; the rest is swept as a stale upload.
      await this.abort(uploadId).catch(() => undefined);
      throw writeError(error, folder);
    }
    return uploadId;
  }

  async #makeFolder(folder: string): Promise<void> {
    try {
      await mkdir(folder, folderMode);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      // Someone removed the parent since we saw it.
      this.#options.folders.forget(this.#parent);
      await this.#options.folders.ensure(this.#parent);
      await mkdir(folder, folderMode);
    }
  }

  /** Refuses an upload that does not exist or was created for another object. */
  async #check(
    uploadId: string,
    path: string,
  ): Promise<{ readonly folder: string; readonly target: Target }> {
    const folder = this.#folder(uploadId);
    let text: string;
    try {
      text = await readFile(join(folder, targetFile), 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') throw uploadNotFound(uploadId);
      throw error;
    }
    const target = JSON.parse(text) as Target;
    if (target.path !== path) throw uploadNotFound(uploadId);
    return { folder, target };
  }

  async uploadPart(
    uploadId: string,
    path: string,
    partNumber: number,
    body: BodySource,
    accept: AcceptPart | undefined,
  ): Promise<UploadedPart> {
    let turn: PartTurn | undefined;
    try {
      checkPartNumber(partNumber);
      const { folder } = await this.#check(uploadId, path);
      const temporary = this.#options.temporary.next();
      const known = body instanceof Uint8Array ? undefined : body.md5;
      const hash = known === undefined ? createHash('md5') : undefined;
      const part = { etag: '', size: 0 };
      await writeNewFile(temporary, body, {
        sync: this.#options.sync,
        onChunk: (chunk) => {
          part.size += chunk.length;
          hash?.update(chunk);
        },
        // The caller's record and the data go to disk together.
        beside: async () => {
          part.etag = hash?.digest('hex') ?? (await known?.()) ?? '';
          turn = this.#takeTurn(join(folder, partPrefix(partNumber)));
          await turn.begins;
          await accept?.({ ...part });
        },
      });
      try {
        await this.#publishPart(uploadId, temporary, join(folder, partPrefix(partNumber) + part.etag));
      } catch (error) {
        // What stays goes with the folder of temporary files.
        await unlink(temporary).catch(() => undefined);
        throw error;
      }
      await this.#removeReplaced(folder, partNumber, part.etag);
      return part;
    } catch (error) {
      discardBody(body);
      throw writeError(error, path);
    } finally {
      turn?.end();
    }
  }

  /** Who is remembered last is stored last, also when a part is uploaded twice at the same time. */
  #takeTurn(part: string): PartTurn {
    const begins = this.#publishing.get(part) ?? Promise.resolve();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    this.#publishing.set(part, ended);
    return {
      begins,
      end: () => {
        resolve();
        if (this.#publishing.get(part) === ended) this.#publishing.delete(part);
      },
    };
  }

  async #publishPart(uploadId: string, temporary: string, path: string): Promise<void> {
    try {
      await rename(temporary, path);
      await this.#options.folders.sync(this.#folder(uploadId));
    } catch (error) {
      // The upload was aborted or completed meanwhile.
      if (errorCode(error) === 'ENOENT') throw uploadNotFound(uploadId);
      throw error;
    }
  }

  async #removeReplaced(folder: string, partNumber: number, etag: string): Promise<void> {
    const prefix = partPrefix(partNumber);
    const others = (await readdir(folder).catch(() => [])).filter(
      (name) => name.startsWith(prefix) && name !== prefix + etag,
    );
    if (others.length === 0) return;
    // A replaced part that stays takes room until the upload ends, and nobody lists it.
    // Of parts uploaded at the same time the last one stays: each looks only for those that came before it.
    const changedAt = (name: string): Promise<bigint | undefined> =>
      stat(join(folder, name), { bigint: true }).then(
        ({ ctimeNs }) => ctimeNs,
        () => undefined,
      );
    const own = await changedAt(prefix + etag);
    for (const name of others) {
      const other = await changedAt(name);
      if (own !== undefined && other !== undefined && other < own)
        await unlink(join(folder, name)).catch(() => undefined);
    }
  }

  /** Joins exactly the listed parts and hands the file to `publish`. */
  async complete(
    uploadId: string,
    path: string,
    parts: readonly CompletedPart[],
    publish: (temporary: string, ifAbsent: boolean) => Promise<void>,
  ): Promise<CompletedUpload> {
    const { folder, target } = await this.#check(uploadId, path);
    checkPartList(parts);
    const files: string[] = [];
    const present = new Set(await namesIn(folder));
    for (const { partNumber, etag } of parts) {
      const name = partPrefix(partNumber) + etag;
      if (!present.has(name)) {
        // Somebody else has completed or aborted the upload meanwhile.
        if (!present.has(targetFile)) throw uploadNotFound(uploadId);
        throw new BlockError('invalid_part', `part ${partNumber} with etag "${etag}" was not uploaded`);
      }
      files.push(join(folder, name));
    }
    const temporary = this.#options.temporary.next();
    let size: number;
    try {
      size = await joinFiles(files, temporary, this.#options.sync);
      await publish(temporary, target.ifAbsent);
    } catch (error) {
      // What stays goes with the folder of temporary files.
      await unlink(temporary).catch(() => undefined);
      if (errorCode(error) === 'ENOENT' && !(await namesIn(folder)).includes(targetFile))
        throw uploadNotFound(uploadId);
      throw writeError(error, path);
    }
    // The object is there: parts that cannot be removed now are found as those of a stale upload.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    return { etag: multipartEtag(parts.map(({ etag }) => etag)), size, lastModified: undefined };
  }

  async abort(uploadId: string): Promise<void> {
    await rm(this.#folder(uploadId), { recursive: true, force: true });
  }

  /** Uploads begun before a time, with the paths they are for. */
  async *begunBefore(time: Date): AsyncGenerator<{ readonly uploadId: string; readonly path: string }> {
    for (const uploadId of await namesIn(this.#parent)) {
      if (!isUploadId(uploadId)) continue;
      const file = join(this.#parent, uploadId, targetFile);
      try {
        if ((await stat(file)).mtime >= time) continue;
        const { path } = JSON.parse(await readFile(file, 'utf8')) as Target;
        yield { uploadId, path };
      } catch {
        // Ended meanwhile, or its beginning was never finished: then nobody knows whose it was.
      }
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function isUploadId(name: string): boolean {
  return /^[0-9a-f]{32}$/.test(name);
}

function partPrefix(partNumber: number): string {
  return `${String(partNumber).padStart(5, '0')}.`;
}

function uploadNotFound(uploadId: string): BlockError {
  return new BlockError('upload_not_found', `multipart upload "${uploadId}" does not exist`);
}

async function joinFiles(files: readonly string[], destination: string, sync: boolean): Promise<number> {
  const [only] = files;
  if (files.length === 1 && only !== undefined && (await isLinked(only, destination)))
    return (await stat(destination)).size;
  const buffer = Buffer.allocUnsafeSlow(copyUnit);
  const output = await open(destination, 'wx', 0o640);
  try {
    let size = 0;
    for (const file of files) {
      const input = await open(file, 'r');
      try {
        size += await appendFile(input, output, buffer);
      } finally {
        await input.close();
      }
    }
    if (sync) await output.datasync();
    return size;
  } finally {
    await output.close();
  }
}

/** A single part is the object already, and on disk: it gets a second name. False where that is not possible. */
async function isLinked(part: string, destination: string): Promise<boolean> {
  try {
    await link(part, destination);
    return true;
  } catch (error) {
    if (isLinkless(error)) return false;
    throw error;
  }
}

async function appendFile(input: FileHandle, output: FileHandle, buffer: Buffer): Promise<number> {
  let size = 0;
  for (;;) {
    const { bytesRead } = await input.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return size;
    for (let written = 0; written < bytesRead;) {
      written += (await output.write(buffer, written, bytesRead - written, null)).bytesWritten;
    }
    size += bytesRead;
  }
}
