import { copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lockLocalStore } from '@svc/kv';
import { storeSettings } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import { copyFolder, type CopyCount } from './copy-folder.ts';
import { BackupError, readManifest, syncFolder, type BackupManifest } from './manifest.ts';
import { countText, notKept, presetSecrets, requireLocalStores } from './take-backup.ts';

interface RestoreParts {
  readonly config: Config;
  readonly folder: string;
  readonly progress: (text: string) => void;
}

export interface RestoredBackup {
  readonly manifest: BackupManifest;
  readonly count: CopyCount;
}

/** Tells a restore that was interrupted from folders that are somebody's. */
const restoringName = 'restoring';

/**
 * Fills empty stores from a backup. The key-value store comes last: until it is there no server starts on the folder,
 * and the same command goes on where it was interrupted.
 */
export async function restoreBackup({ config, folder, progress }: RestoreParts): Promise<RestoredBackup> {
  requireLocalStores(config);
  const manifest = await readManifest(folder);
  if (manifest === undefined) {
    throw new BackupError(`there is no complete backup in ${folder}: it has no backup.json`);
  }
  const { path } = config.database.local;
  const lock = await lockLocalStore(path);
  try {
    const stores = placesOf(manifest, config);
    const restoring = join(path, restoringName);
    if (!existsSync(restoring)) {
      await requireEmpty(config);
      // A server takes an empty store for a damaged one, and says that it needs a backup.
      await writeFile(restoring, '');
      await writeFile(join(path, 'data.mdb'), '', { mode: 0o600 });
    }
    const count: CopyCount = { files: 0, bytes: 0, copiedFiles: 0, copiedBytes: 0 };
    const timer = setInterval(() => progress(countText(count)), 2000);
    try {
      for (const { store, target } of stores) {
        const before = count.files;
        const temporary = join(target, '.svc-tmp', 'restoring');
        await copyFolder({
          from: join(folder, store.folder),
          to: target,
          temporary,
          without: notKept,
          count,
        });
        requireWhole(store, count.files - before, folder);
      }
    } finally {
      clearInterval(timer);
    }
    await restoreKeyValueStore(join(folder, manifest.key_value_store), path);
    await rm(restoring);
    return { manifest, count };
  } finally {
    await lock.release();
  }
}

async function restoreKeyValueStore(snapshot: string, path: string): Promise<void> {
  const next = join(path, 'data.mdb.restored');
  await copyFile(join(snapshot, 'data.mdb'), next);
  const secrets = join(snapshot, presetSecrets);
  if (existsSync(secrets)) await copyFile(secrets, join(path, presetSecrets));
  await rm(join(path, 'lock.mdb'), { force: true });
  await syncFolder(path);
  await rename(next, join(path, 'data.mdb'));
  await syncFolder(path);
}

interface Place {
  readonly store: BackupManifest['block_stores'][number];
  readonly target: string;
}

function placesOf(manifest: BackupManifest, config: Config): Place[] {
  const settings = storeSettings(config);
  return manifest.block_stores.map((store) => {
    const found = settings.find(({ id }) => id === store.storage_id);
    if (found === undefined) {
      throw new BackupError(
        `the backup has a block store with id "${store.storage_id}", and the configuration has none; configure it`,
      );
    }
    return { store, target: found.local.path };
  });
}

async function requireEmpty(config: Config): Promise<void> {
  const { path } = config.database.local;
  if (existsSync(join(path, 'data.mdb'))) throw inUse('database.local.path', path);
  for (const { local } of storeSettings(config)) {
    await mkdir(local.path, { recursive: true, mode: 0o700 });
    const names = (await readdir(local.path)).filter((name) => !notKept.has(name));
    if (names.length > 0) throw inUse('blockstore.local.path', local.path);
  }
}

function inUse(key: string, path: string): BackupError {
  return new BackupError(
    `${path} (${key}) is not empty, and a restore replaces nothing; move it away or configure another folder`,
  );
}

function requireWhole(store: BackupManifest['block_stores'][number], files: number, folder: string): void {
  if (files >= store.files) return;
  throw new BackupError(
    `${join(folder, store.folder)} has ${files} files and had ${store.files} when the backup was taken: files are missing`,
  );
}
