import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../run-command.ts';
import { UnavailableError } from '../unavailable-error.ts';
import { cacheDir } from './cache-dir.ts';
import { fetchLock } from './fetch-lock.ts';

/** Finds a program of the machine, or installs it from the distribution where that is possible. */
export async function foundOrInstalled<Found>(
  what: string,
  find: () => Found | undefined,
  packages: readonly string[],
): Promise<Found> {
  await mkdir(cacheDir(), { recursive: true });
  // A program is there before its installation has ended: wait for that even when it is found.
  const release = await fetchLock(join(cacheDir(), 'apt'), what, () => false);
  try {
    const found = find();
    if (found !== undefined) return found;
    await install(what, packages);
    const installed = find();
    if (installed === undefined) throw new UnavailableError(`apt-get brought no ${what}`);
    return installed;
  } finally {
    await release();
  }
}

async function install(what: string, packages: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new UnavailableError(`there is no ${what} on this machine`);
  }
  process.stderr.write(`installing ${what} for the tests (once, by apt-get) …\n`);
  try {
    await runCommand('apt-get', ['install', '-y', '--no-install-recommends', ...packages], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  } catch (error) {
    throw new UnavailableError(
      `${what} cannot be installed: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
