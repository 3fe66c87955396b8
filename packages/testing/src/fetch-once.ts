import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cacheDir } from './cache-dir.ts';
import { UnavailableError } from './unavailable-error.ts';

/**
 * A folder of the per-user cache filled by `install` the first time anyone asks for it. Several processes may
 * ask at once: one installs, the others wait. A folder is either complete or absent.
 */
export async function fetchOnce(name: string, install: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheDir(), name);
  const marker = join(folder, '.complete');
  if (existsSync(marker)) return folder;
  await mkdir(cacheDir(), { recursive: true });
  const release = await lock(`${folder}.lock`);
  try {
    if (existsSync(marker)) return folder;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    process.stderr.write(`fetching ${name} for the tests (once) …\n`);
    try {
      await install(folder);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      if (error instanceof UnavailableError) throw error;
      throw new UnavailableError(
        `fetching ${name} failed: ${error instanceof Error ? error.message : String(error)}`,
        {
          cause: error,
        },
      );
    }
    await writeFile(marker, new Date().toISOString());
    return folder;
  } finally {
    await release();
  }
}

/** A lock folder that names its owner; a dead owner's lock is taken over. */
async function lock(path: string): Promise<() => Promise<void>> {
  for (;;) {
    try {
      await mkdir(path);
      await writeFile(join(path, 'pid'), String(process.pid));
      return () => rm(path, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const pid = Number(await readFile(join(path, 'pid'), 'utf8').catch(() => '0'));
    if (pid > 0 && !isAlive(pid)) {
      // Renamed first so that only one waiter removes it.
      const stale = `${path}.${randomBytes(4).toString('hex')}`;
      await rename(path, stale).catch(() => undefined);
      await rm(stale, { recursive: true, force: true });
      continue;
    }
    await delay(200);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
