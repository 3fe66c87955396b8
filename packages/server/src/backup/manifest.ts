import { readFile, rename, writeFile, open } from 'node:fs/promises';
import { join } from 'node:path';

/** What a backup folder says of itself. It is replaced last, so it always names a backup that is whole. */
export interface BackupManifest {
  readonly format: 1;
  readonly svc_version: string;
  readonly taken_at: string;
  /** Folder of the key-value store's snapshot. */
  readonly key_value_store: string;
  readonly block_stores: readonly {
    readonly storage_id: string;
    readonly folder: string;
    readonly files: number;
    readonly bytes: number;
  }[];
}

export const manifestName = 'backup.json';

export class BackupError extends Error {
  override readonly name = 'BackupError';
}

export async function readManifest(folder: string): Promise<BackupManifest | undefined> {
  const file = join(folder, manifestName);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const manifest = parsed(text);
  if (manifest?.format !== 1) {
    throw new BackupError(`${file} is not a backup that this version of svc reads`);
  }
  return manifest;
}

function parsed(text: string): BackupManifest | undefined {
  try {
    return JSON.parse(text) as BackupManifest;
  } catch {
    return undefined;
  }
}

export async function writeManifest(folder: string, manifest: BackupManifest): Promise<void> {
  const file = join(folder, manifestName);
  await writeFile(`${file}.new`, `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
  await syncFolder(folder);
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
