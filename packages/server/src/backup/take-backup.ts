import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openFileLock, snapshotLocalStore } from '@svc/kv';
import type { KvStore } from '@svc/kv';
import { storeSettings } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import { version } from '../version.ts';
import { copyFolder, type CopyCount } from './copy-folder.ts';
import { BackupError, readManifest, syncFolder, writeManifest, type BackupManifest } from './manifest.ts';

export interface BackupParts {
  readonly config: Config;
  readonly kv: KvStore;
  readonly folder: string;
  readonly progress: (text: string) => void;
}

export interface TakenBackup {
  readonly manifest: BackupManifest;
  readonly count: CopyCount;
}

/** Files that the store makes anew, or that are not objects yet. */
export const notKept: ReadonlySet<string> = new Set(['.svc-tmp']);
export const presetSecrets = 'preset-secrets.json';
const snapshotPrefix = 'kv-';
const mostRounds = 5;

/**
 * Backs up an installation on local stores while it serves. The key-value store is copied as it is at one moment, then
 * the files that it names: an object is there before a record names it, and stays while one does.
 */
export async function takeBackup(parts: BackupParts): Promise<TakenBackup> {
  const { folder } = parts;
  requireLocalStores(parts.config);
  requireApart(parts);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await requireBackupFolder(folder);
  const lock = await openFileLock(join(folder, 'backup.lock'));
  try {
    if (!lock.tryExclusive()) throw new BackupError(`another backup into ${folder} is at work`);
    return await rounds(parts);
  } finally {
    lock.close();
  }
}

async function rounds(parts: BackupParts): Promise<TakenBackup> {
  for (let round = 0; round < mostRounds; round++) {
    const before = await repositoryRecords(parts.kv);
    const taken = await oneRound(parts);
    if (await isStill(before, parts.kv)) {
      await writeManifest(parts.folder, taken.manifest);
      await removeSnapshots(parts.folder, taken.manifest.key_value_store);
      return taken;
    }
    parts.progress('a repository was deleted meanwhile; once more');
  }
  throw new BackupError('repositories were deleted again and again while they were copied; try again later');
}

async function oneRound({ config, folder, progress }: BackupParts): Promise<TakenBackup> {
  const name = `${snapshotPrefix}${new Date().toISOString().replaceAll(/[^\dTZ]/g, '')}`;
  const takenAt = new Date().toISOString();
  const snapshot = join(folder, name);
  await mkdir(snapshot, { mode: 0o700 });
  await snapshotLocalStore(config.database.local.path, snapshot);
  const secrets = join(config.database.local.path, presetSecrets);
  if (existsSync(secrets)) await copyFile(secrets, join(snapshot, presetSecrets));
  await syncFolder(snapshot);
  progress('the key-value store is copied');
  const count: CopyCount = { files: 0, bytes: 0, copiedFiles: 0, copiedBytes: 0 };
  const stores: BackupManifest['block_stores'][number][] = [];
  const timer = setInterval(() => progress(countText(count)), 2000);
  try {
    for (const { id, local } of storeSettings(config)) {
      const before = { ...count };
      const target = blocksFolder(id);
      await copyFolder({
        from: local.path,
        to: join(folder, target),
        temporary: join(folder, 'unfinished'),
        without: notKept,
        count,
      });
      stores.push({
        storage_id: id,
        folder: target,
        files: count.files - before.files,
        bytes: count.bytes - before.bytes,
      });
    }
  } finally {
    clearInterval(timer);
  }
  const manifest: BackupManifest = {
    format: 1,
    svc_version: version,
    taken_at: takenAt,
    key_value_store: name,
    block_stores: stores,
  };
  return { manifest, count };
}

export function countText({ files, copiedFiles, copiedBytes }: CopyCount): string {
  return `${files} files, of them ${copiedFiles} copied (${Math.ceil(copiedBytes / 2 ** 20)} MiB)`;
}

/** Storage ids are free text: what could leave the folder is encoded. */
function blocksFolder(storageId: string): string {
  return storageId === '' ? 'blocks' : `blocks-${encodeURIComponent(storageId).replaceAll('.', '%2E')}`;
}

export function requireLocalStores(config: Config): void {
  const { type, local } = config.database;
  if (type !== 'local' || local.path.startsWith('memory:')) {
    throw new BackupError(
      `this backs up installations with database.type local on disk, and this one has ${type}; docs/backup.md says how to back up the others`,
    );
  }
  const other = storeSettings(config).find((store) => store.type !== 'local');
  if (other !== undefined) {
    throw new BackupError(
      `this backs up installations with blockstore.type local, and this one has ${other.type}; docs/backup.md says how to back up the others`,
    );
  }
}

function requireApart({ config, folder }: BackupParts): void {
  const target = `${resolve(folder)}/`;
  const paths = [config.database.local.path, ...storeSettings(config).map((store) => store.local.path)];
  for (const path of paths) {
    const own = `${resolve(path)}/`;
    if (target.startsWith(own) || own.startsWith(target)) {
      throw new BackupError(`${folder} and ${path} lie in each other; give a folder apart from the stores`);
    }
  }
}

/** Nobody's files are mixed with a backup. */
async function requireBackupFolder(folder: string): Promise<void> {
  if ((await readManifest(folder)) !== undefined) return;
  const names = await readdir(folder);
  // A first backup that was interrupted has no manifest yet.
  const foreign = names.find(
    (name) => !/^(kv-[\dTZ]+|blocks.*|unfinished|backup\.(lock|lock-journal|json\.new))$/.test(name),
  );
  if (foreign !== undefined) {
    throw new BackupError(`${folder} is no backup and not empty (it holds ${foreign}); give another folder`);
  }
}

async function repositoryRecords(kv: KvStore): Promise<Map<string, Buffer>> {
  const records = new Map<string, Buffer>();
  for (const prefix of ['repos/', 'deleted/']) {
    for await (const page of kv.scan(Buffer.from('graveler'), { prefix: Buffer.from(prefix) })) {
      for (const { key, value } of page) records.set(key.toString(), value);
    }
  }
  return records;
}

/** True while no repository went: with it goes data that the snapshot names. */
async function isStill(before: ReadonlyMap<string, Buffer>, kv: KvStore): Promise<boolean> {
  const now = await repositoryRecords(kv);
  for (const [key, value] of before) if (now.get(key)?.equals(value) !== true) return false;
  return true;
}

async function removeSnapshots(folder: string, except: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith(snapshotPrefix) && name !== except)
      await rm(join(folder, name), { recursive: true, force: true });
  }
}
