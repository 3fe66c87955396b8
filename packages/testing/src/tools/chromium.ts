import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { foundOrInstalled } from '../fetch/apt-install.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

function findChromium(): string | undefined {
  const named = process.env['CHROMIUM_PATH'];
  if (named !== undefined && named !== '') return named;
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin'];
  return folders
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** The system's Chromium, or the one that CHROMIUM_PATH names; installed from the distribution where that is possible. */
export function chromiumPath(): Promise<string> {
  return foundOrInstalled('Chromium', findChromium, ['chromium']);
}
