import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The variable that names the run's own folder; everything in it goes when the run ends. */
export const runFolderVariable = 'SVC_TEST_RUN_FOLDER';

/** Where the processes of a run keep compiled sources for each other. */
export function compileCache(runFolder: string): string {
  return join(runFolder, 'compiled');
}

const folders = new Set<string>();

process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A fresh folder, removed when the process or the whole test run ends. */
export function tempDir(name = 'svc-test'): string {
  const folder = mkdtempSync(join(process.env[runFolderVariable] ?? tmpdir(), `${name}-`));
  folders.add(folder);
  return folder;
}
