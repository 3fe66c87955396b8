import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { ConfigError, loadConfig } from '../src/config/load.ts';
import type { LoadOptions, LoadedConfig } from '../src/config/load.ts';

/** A folder of this run's own; the file of a configuration lies in it. */
export const folder: string = tempDir('svc-config');

/** The four keys without which nothing starts. */
export const required = {
  SVC_DATABASE_TYPE: 'local',
  SVC_BLOCKSTORE_TYPE: 'local',
  SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'signing secret of the test',
  SVC_AUTH_ENCRYPT_SECRET_KEY: 'encryption secret of the test',
};

let files = 0;
export function fileWith(text: string): string {
  const path = join(folder, `config-${files++}.yaml`);
  writeFileSync(path, text);
  return path;
}

export function load(
  env: Record<string, string> = {},
  yaml?: string,
  options: LoadOptions = {},
): LoadedConfig {
  return loadConfig({
    env: { ...required, ...env },
    cwd: folder,
    ...(yaml === undefined ? {} : { file: fileWith(yaml) }),
    ...options,
  });
}

export function problemsOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

export function nested(name: string, value: unknown): string {
  const root: Record<string, unknown> = {};
  let group = root;
  const parts = name.split('.');
  for (const part of parts.slice(0, -1)) {
    const inner = {};
    group[part] = inner;
    group = inner;
  }
  group[parts.at(-1) ?? name] = value;
  return JSON.stringify(root);
}
