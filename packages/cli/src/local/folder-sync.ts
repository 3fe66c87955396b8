import { chmodSync, chownSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createCalls, forEachParallel, type Calls, type ObjectStats } from '@svc/client';
import { CliError } from '../errors.ts';
import type { NodeTransport } from '../http/transport.ts';
import type { Output } from '../output/output.ts';
import type { PresignSupport } from '../presign.ts';
import { Downloader } from '../transfer/downloader.ts';
import { Progress } from '../transfer/progress.ts';
import { lstatIfPresent, SafeFolder } from '../transfer/safe-path.ts';
import { emptyTally, type Tally } from '../transfer/summary.ts';
import { Uploader } from '../transfer/uploader.ts';
import type { Change } from './changes.ts';
import { clientMtimeKey, posixPermissionsKey, symlinkTargetKey, type FileRules } from './entry.ts';
import { remoteMtime } from './local-diff.ts';
import { encodePermissions, permissionBits, permissionsOf } from './posix.ts';
import { describe } from './walk.ts';

/** From this size a download goes in several ranges at once. */
export const defaultPartSize = 8 * 1024 * 1024;

export interface FolderSyncOptions {
  readonly transport: NodeTransport;
  readonly out: Output;
  readonly root: string;
  readonly repository: string;
  /** Where uploads and remote deletions go. */
  readonly branch: string;
  /** What downloads are taken from. */
  readonly ref: string;
  /** Empty, or ends in `/`. */
  readonly prefix: string;
  readonly rules: FileRules;
  readonly presign: PresignSupport;
  readonly parallelism: number;
  readonly noProgress: boolean;
  readonly title: string;
  readonly contentType?: string | undefined;
}

/** Applies changes in both directions, several at a time; the first failure stops all. */
export class FolderSync {
  readonly #options: FolderSyncOptions;
  readonly #client: Calls;
  readonly #uploader: Uploader;
  readonly #downloader: Downloader;
  readonly #folder: SafeFolder;
  /** Folders that lost a file; only these are removed when empty. */
  readonly #thinned = new Set<string>();

  constructor(options: FolderSyncOptions) {
    this.#options = options;
    const { transport, repository, branch, ref, presign, rules } = options;
    this.#client = createCalls(transport);
    this.#uploader = new Uploader({ transport, repository, branch, presign });
    this.#downloader = new Downloader({
      transport,
      repository,
      ref,
      presign: presign.supported,
      partSize: defaultPartSize,
      verifyChecksum: rules.verifyChecksum,
    });
    this.#folder = new SafeFolder(options.root);
  }

  async apply(
    changes: Iterable<Change> | AsyncIterable<Change>,
    signal: AbortSignal | undefined,
  ): Promise<Tally> {
    const { out, noProgress, title, parallelism, rules } = this.#options;
    const tally = emptyTally();
    const progress = await Progress.start({ out, title, off: noProgress, lines: true, pad: 40 });
    if (progress.shown && Array.isArray(changes)) this.#announce(changes as readonly Change[], progress);
    try {
      await forEachParallel(
        changes,
        parallelism,
        (change, stop) => this.#applyOne(change, tally, progress, stop),
        signal,
      );
    } finally {
      progress.stop();
    }
    if (!rules.posix) for (const folder of this.#thinned) await this.#removeEmpty(folder);
    return tally;
  }

  #announce(changes: readonly Change[], progress: Progress): void {
    const sizes = changes.map(({ side, kind, path, stats }) => {
      if (kind === 'removed') return 0;
      if (side === 'remote') return stats?.size_bytes ?? 0;
      return describe(join(this.#options.root, ...path.split('/')), path).size;
    });
    progress.announce(
      changes.length,
      sizes.reduce((sum, size) => sum + size, 0),
    );
  }

  async #applyOne(change: Change, tally: Tally, progress: Progress, stop: AbortSignal): Promise<void> {
    const { side, kind, path } = change;
    if (kind === 'conflict') throw new CliError(`${path} was changed on both sides`);
    if (side === 'local' && kind !== 'removed') {
      await this.#upload(path, progress, stop);
      tally.uploaded += 1;
    } else if (side === 'local') {
      await this.#step(progress, `delete remote path: ${path}`, () => this.#deleteRemote(path));
      tally.removed += 1;
    } else if (kind === 'removed') {
      await this.#step(progress, `delete local: ${path}`, () => this.#deleteLocal(path));
      tally.removed += 1;
    } else {
      await this.#download(change, progress, stop);
      tally.downloaded += 1;
    }
  }

  async #step(progress: Progress, label: string, work: () => Promise<void>): Promise<void> {
    const item = progress.item(label, 0);
    try {
      await work();
    } catch (error) {
      item.fail();
      throw error;
    }
    item.done();
  }

  async #upload(path: string, progress: Progress, signal: AbortSignal): Promise<void> {
    const { root, prefix, rules } = this.#options;
    const file = join(root, ...path.split('/'));
    const entry = describe(file, path);
    const item = progress.item(`upload ${path}`, entry.size);
    const link = entry.symlinkTarget;
    const metadata = {
      [clientMtimeKey]: String(entry.mtimeSeconds),
      ...(link !== undefined && { [symlinkTargetKey]: link }),
      ...(rules.posix && { [posixPermissionsKey]: encodePermissions(entry) }),
    };
    try {
      await this.#uploader.upload({
        path: prefix + path,
        file,
        size: entry.size,
        metadata,
        contentType: this.#options.contentType,
        signal,
        onBytes: item.onBytes,
      });
    } catch (error) {
      item.fail();
      throw error;
    }
    item.done();
  }

  async #download(change: Change, progress: Progress, signal: AbortSignal): Promise<void> {
    const { rules } = this.#options;
    const { path } = change;
    const isFolder = path.endsWith('/');
    const target = this.#folder.prepare(isFolder ? path.slice(0, -1) : path);
    const stats = change.stats ?? (await this.#stat(path));
    const size = stats.size_bytes ?? 0;
    const item = progress.item(`download ${path}`, size);
    try {
      const link = rules.symlinkSupport ? stats.metadata?.[symlinkTargetKey] : undefined;
      // Preparing any name below it makes the folder.
      if (isFolder) this.#folder.prepare(`${path}x`);
      else if (this.#isMarkerOfFolder(target, size)) {
        item.done();
        return;
      } else {
        // Remove or replace by name: nothing may be written through a link.
        if (link !== undefined || size === 0) rmSync(target, { force: true });
        if (link !== undefined) symlinkSync(link, target);
        else if (size === 0) writeFileSync(target, '', { flag: 'wx' });
        else {
          await this.#downloader.download({
            path: this.#options.prefix + path,
            target,
            stats,
            signal,
            onBytes: item.onBytes,
          });
        }
      }
      if (link === undefined) this.#dress(target, stats, isFolder);
    } catch (error) {
      item.fail();
      throw error;
    }
    item.done();
  }

  /** Sets the time and, if configured, the permissions that the object records. */
  #dress(target: string, stats: ObjectStats, isFolder: boolean): void {
    const { rules } = this.#options;
    if (rules.posix) {
      const permissions = permissionsOf(stats, isFolder);
      if (rules.includeUid || rules.includeGid) {
        const uid = rules.includeUid ? permissions.uid : -1;
        const gid = rules.includeGid ? permissions.gid : -1;
        chownSync(target, uid, gid);
      }
      chmodSync(target, permissionBits(permissions));
    }
    if (!isFolder) {
      const mtime = remoteMtime(stats);
      utimesSync(target, mtime, mtime);
    }
  }

  /** A zero-size object at a folder's name marks the folder; an object with data there cannot be stored. */
  #isMarkerOfFolder(target: string, size: number): boolean {
    const found = lstatIfPresent(target);
    if (found?.isDirectory() !== true) return false;
    if (size === 0) return true;
    throw new CliError(`"${target}" is a folder, and an object of that name needs to be a file`);
  }

  async #stat(path: string): Promise<ObjectStats> {
    const { repository, ref, prefix, presign } = this.#options;
    const query = { path: prefix + path, user_metadata: true, ...(presign.supported && { presign: true }) };
    return this.#client.get('/repositories/{repository}/refs/{ref}/objects/stat', {
      params: { path: { repository, ref }, query },
    });
  }

  async #deleteRemote(path: string): Promise<void> {
    const { repository, branch, prefix } = this.#options;
    await this.#client.delete('/repositories/{repository}/branches/{branch}/objects', {
      params: { path: { repository, branch }, query: { path: prefix + path } },
    });
  }

  async #deleteLocal(path: string): Promise<void> {
    const isFolder = path.endsWith('/');
    const target = this.#folder.locate(isFolder ? path.slice(0, -1) : path);
    if (isFolder) await removeIfEmpty(target);
    else await rm(target, { force: true });
    this.#thinned.add(dirname(target));
  }

  /** Removes a folder that lost its last file, and its empty parents, but never the root. */
  async #removeEmpty(folder: string): Promise<void> {
    for (let at = folder; at !== this.#folder.root; at = dirname(at)) {
      if (!(await removeIfEmpty(at))) return;
    }
  }
}

async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    if (code === 'ENOENT') return true;
    throw error;
  }
}
