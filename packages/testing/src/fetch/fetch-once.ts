import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UnavailableError } from '../unavailable-error.ts';
import { cacheDir } from './cache-dir.ts';
import { fetchLock } from './fetch-lock.ts';

/**
 * A folder of the per-user cache, filled by `install` the first time anyone asks for it. One process installs, the
 * others wait. The folder is either complete or absent: each attempt fills a folder of its own, and the name is
 * linked to it at the end, so an attempt that was killed or overtaken spoils nothing.
 */
export async function fetchOnce(
  name: string,
  what: string,
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(cacheDir(), name);
  const isComplete = (): boolean => existsSync(join(folder, '.complete'));
  if (isComplete()) return folder;
  await mkdir(cacheDir(), { recursive: true });
  const release = await fetchLock(folder, what, isComplete);
  try {
    if (isComplete()) return folder;
    await removeAttempts(name);
    await attempt(folder, what, install);
    return folder;
  } finally {
    await release();
  }
}

async function attempt(
  folder: string,
  what: string,
  install: (folder: string) => Promise<void>,
): Promise<void> {
  const started = performance.now();
  process.stderr.write(`fetching ${what} for the tests (once, into ${cacheDir()}) …\n`);
  const own = `${folder}.${randomBytes(4).toString('hex')}`;
  await mkdir(own);
  try {
    await install(own);
    await writeFile(join(own, '.complete'), new Date().toISOString());
    await symlink(own, `${own}.link`, 'junction');
    await rename(`${own}.link`, folder);
  } catch (error) {
    await rm(own, { recursive: true, force: true });
    // Overtaken: this process was thought to be gone, and another has done it.
    if (existsSync(join(folder, '.complete'))) return;
    if (error instanceof UnavailableError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnavailableError(`fetching ${what} failed: ${reason}`, { cause: error });
  }
  process.stderr.write(`fetched ${what} in ${Math.round((performance.now() - started) / 1000)} s\n`);
}

/** What attempts that did not end have left. */
async function removeAttempts(name: string): Promise<void> {
  for (const entry of await readdir(cacheDir())) {
    const isAttempt =
      entry.startsWith(`${name}.`) && /^\.[0-9a-f]{8}(\.link)?$/.test(entry.slice(name.length));
    if (isAttempt || entry === name)
      await rm(join(cacheDir(), entry), { recursive: true, force: true, maxRetries: 3 });
  }
}
