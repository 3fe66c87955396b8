import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError, setAt } from './load.ts';
import type { LoadedConfig, Source } from './load.ts';
import { isLoopback } from './listen-host.ts';

/** What a preset brings that everybody can read in the sources. */
const secretKeys = [
  'auth.encrypt.secret_key',
  'blockstore.signing.secret_key',
  'installation.secret_access_key',
] as const;

/** As AWS writes them. */
const secretBytes = 30;

/**
 * Replaces the published secrets of a preset where other machines can reach the server: by generated ones, kept beside
 * the store they belong to. An installation that was made with the published ones stays on this machine.
 */
export function withPresetSecrets(loaded: LoadedConfig): LoadedConfig {
  const { config, preset, sources } = loaded;
  const published = secretKeys.filter((name) => sources.get(name)?.kind === 'preset');
  if (preset === undefined || published.length === 0) return loaded;
  const { type, local } = config.database;
  const folder = type === 'local' && !local.path.startsWith('memory:') ? local.path : undefined;
  const file = folder === undefined ? undefined : join(folder, 'preset-secrets.json');
  if (file !== undefined && existsSync(file)) {
    const stored = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
    return replaced(loaded, published, stored, file);
  }
  if (isLoopback(config.listen_address)) return loaded;
  if (type !== 'local' && type !== 'mem') {
    throw new ConfigError([
      `FATAL: --${preset} has published secrets, and listen_address ${config.listen_address} lets other machines in; set ${published.join(' and ')}, or listen on 127.0.0.1`,
    ]);
  }
  if (folder !== undefined && existsSync(join(folder, 'data.mdb'))) {
    throw new ConfigError([
      `FATAL: the installation in ${folder} was made with the published secrets of --${preset}, and listen_address ${config.listen_address} would let other machines in; listen on 127.0.0.1, or begin a new installation in another folder (database.local.path, blockstore.local.path)`,
    ]);
  }
  const generated = Object.fromEntries(
    secretKeys.map((name) => [name, randomBytes(secretBytes).toString('base64url')]),
  );
  if (file !== undefined) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${JSON.stringify(generated, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
  }
  return replaced(loaded, published, generated, file ?? 'generated at start');
}

function replaced(
  loaded: LoadedConfig,
  names: readonly string[],
  secrets: Readonly<Record<string, string>>,
  from: string,
): LoadedConfig {
  const config = structuredClone(loaded.config);
  const sources = new Map<string, Source>(loaded.sources);
  for (const name of names) {
    const secret = secrets[name];
    if (secret === undefined || secret === '') throw new ConfigError([`FATAL: ${from} has no ${name}`]);
    setAt(config, name, secret);
    sources.set(name, { kind: 'file', from });
  }
  return { ...loaded, config, sources };
}
