import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runFolderVariable } from '../temp-dir.ts';

const root = join(import.meta.dirname, '../../../..');
// Inside the clone, so that the packages it imports are found.
const cache = join(root, 'node_modules', '.cache');

/** A copy of what people run, one for the whole run: another build may begin while the tests are running. */
export function svcBundle(): string {
  const folder = bundleOf(process.env[runFolderVariable] ?? `svc-alone-${process.pid}`);
  const unfinished = `${folder}-unfinished`;
  mkdirSync(cache, { recursive: true });
  while (!existsSync(folder)) {
    if (begin(unfinished)) copyBuild(unfinished, folder);
    // Another test process is at it.
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  return folder;
}

function begin(unfinished: string): boolean {
  try {
    mkdirSync(unfinished);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function copyBuild(unfinished: string, folder: string): void {
  try {
    const bootstrap = [join(root, 'scripts', 'bootstrap.mjs'), '--build'];
    const result = spawnSync(process.execPath, bootstrap, { encoding: 'utf8' });
    if (result.status !== 0) throw new Error(`the bundle cannot be built: ${result.stderr}`);
    cpSync(join(root, 'dist'), unfinished, { recursive: true });
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
}

export function removeSvcBundle(runFolder: string): void {
  rmSync(bundleOf(runFolder), { recursive: true, force: true });
}

function bundleOf(runFolder: string): string {
  return join(cache, `${basename(runFolder)}-bundle`);
}
