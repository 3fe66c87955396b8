import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
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
  const found = findChromium();
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new UnavailableError('there is no Chromium; install it or name it in CHROMIUM_PATH');
  }
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
