import { constants, copyFile, link, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BodySource, PutOptions } from '../../adapter.ts';
import { errorCode, isLinkless, writeError } from './errors.ts';
import type { FolderSyncs } from './folder-syncs.ts';
import { moveFile } from './move-file.ts';
import type { LocalPaths } from './paths.ts';
import type { TemporaryFiles } from './temporary-files.ts';
import { writeNewFile } from './write-file.ts';

async function syncFile(path: string, flags = 'r'): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

interface FileWriterOptions {
  readonly sync: boolean;
  readonly paths: LocalPaths;
  readonly folders: FolderSyncs;
  readonly temporary: TemporaryFiles;
}

/** Puts files under their names, whole and durably. */
export class FileWriter {
  readonly #sync: boolean;
  readonly #paths: LocalPaths;
  readonly #folders: FolderSyncs;
  readonly #temporary: TemporaryFiles;

  constructor({ sync, paths, folders, temporary }: FileWriterOptions) {
    this.#sync = sync;
    this.#paths = paths;
    this.#folders = folders;
    this.#temporary = temporary;
  }

  put(path: string, body: BodySource, options: PutOptions): Promise<void> {
    if (options.fresh === true) return this.#putInPlace(path, body, options);
    if (options.immutable === true) return this.#putImmutable(path, body, options);
    return this.#putByName(path, body, options);
  }

  async #putInPlace(path: string, body: BodySource, options: PutOptions): Promise<void> {
    const folder = dirname(path);
    if (!this.#folders.isDurable(folder)) await this.#ensureFolder(folder);
    const writing = {
      sync: this.#sync,
      signal: options.signal,
      beside: (): Promise<void> => this.#folders.sync(folder),
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
      await this.publish(temporary, path, options.ifAbsent ?? false);
    } catch (error) {
      await this.#drop(temporary);
      throw error;
    }
  }

  /** Gives a file of the same file system a second name in the store; false where that is not possible. */
  async adopt(file: string, target: string): Promise<boolean> {
    const temporary = this.#temporary.next();
    try {
      await link(file, temporary);
    } catch (error) {
      if (isLinkless(error)) return false;
      throw writeError(error, target);
    }
    try {
      if (this.#sync) await syncFile(temporary);
      await this.publish(temporary, target, false);
    } catch (error) {
      await this.#drop(temporary);
      throw writeError(error, target);
    }
    return true;
  }

  /** Gives a whole, synced file its name, durably. */
  async publish(temporary: string, path: string, ifAbsent: boolean): Promise<void> {
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

  async copy(from: string, target: string): Promise<void> {
    const temporary = this.#temporary.next();
    try {
      await copyFile(from, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      if (this.#sync) await syncFile(temporary, 'r+');
      await this.publish(temporary, target, false);
    } catch (error) {
      await this.#drop(temporary);
      throw writeError(error, target);
    }
  }

  /** What remains goes with the folder of this process's temporary files. */
  async #drop(temporary: string): Promise<void> {
    await unlink(temporary).catch(() => undefined);
  }
}
