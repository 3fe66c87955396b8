import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { cacheDir } from '../fetch/cache-dir.ts';
import { fetchLock } from '../fetch/fetch-lock.ts';
import { runCommand } from '../run-command.ts';
import { UnavailableError } from '../unavailable-error.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

function findChromium(): string | undefined {
  const named = process.env['CHROMIUM_PATH'];
  if (named !== undefined && named !== '') return named;
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin'];
  return folders
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** The system's Chromium; installed from the distribution where that is possible. */
export async function chromiumPath(): Promise<string> {
  await mkdir(cacheDir(), { recursive: true });
  // The program is there before its installation has ended: wait for that even when it is found.
  const release = await fetchLock(join(cacheDir(), 'chromium'), 'Chromium', () => false);
  try {
    return findChromium() ?? (await installChromium());
  } finally {
    await release();
  }
}

async function installChromium(): Promise<string> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new UnavailableError('there is no Chromium; install it or name it in CHROMIUM_PATH');
  }
  process.stderr.write('installing Chromium for the tests (once, by apt-get) …\n');
  try {
    await runCommand('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  } catch (error) {
    throw new UnavailableError(
      `Chromium cannot be installed: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const installed = findChromium();
  if (installed === undefined) throw new UnavailableError('apt-get brought no Chromium');
  return installed;
}
