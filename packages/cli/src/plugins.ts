import { spawn } from 'node:child_process';
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { constants as system } from 'node:os';
import { delimiter, join } from 'node:path';
import { CliError } from './errors.ts';

export const pluginPrefix = 'svcctl-';

/** Runs `svcctl-<name>` from PATH and returns its exit status, or undefined when there is none. */
export async function runPlugin(
  name: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<number | undefined> {
  const file = findPlugin(name, environment);
  if (file === undefined) return undefined;
  const child = spawn(file, [...args], { stdio: 'inherit', env: environment });
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      reject(new CliError(`plugin ${file} cannot be started: ${error.message}`));
    });
    child.on('close', (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 0 : system.signals[signal]));
    });
  });
}

/** The distinct folders of PATH; an empty entry is the current one. */
export function pathFolders(environment: NodeJS.ProcessEnv): string[] {
  const entries = (environment['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => (folder === '' ? '.' : folder));
  return [...new Set(entries)];
}

export function findPlugin(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  if (name.includes('/') || name.includes('\\')) return undefined;
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat', ''] : [''];
  for (const folder of pathFolders(environment)) {
    for (const ending of endings) {
      const file = join(folder, `${pluginPrefix}${name}${ending}`);
      if (isExecutable(file)) return file;
    }
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Names of all plugins, sorted; folders that cannot be read are reported. */
export function listPlugins(environment: NodeJS.ProcessEnv, warn: (text: string) => void): string[] {
  const names = new Set<string>();
  for (const folder of pathFolders(environment)) {
    let entries: string[] = [];
    try {
      entries = readdirSync(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        warn(`folder ${folder} of PATH cannot be read: ${(error as Error).message}`);
      }
    }
    for (const entry of entries) {
      const name = entry.slice(pluginPrefix.length).replace(/\.(exe|cmd|bat)$/i, '');
      if (entry.startsWith(pluginPrefix) && name !== '' && findPlugin(name, environment) !== undefined) {
        names.add(name);
      }
    }
  }
  return [...names].toSorted();
}
