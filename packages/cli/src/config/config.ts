import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseDuration } from '../duration.ts';
import { CliError } from '../errors.ts';
import { parseBoolean } from '../terminal.ts';
import { configKeys, type AnyConfigValue, type ConfigKey, type ConfigValue, type KeyType } from './keys.ts';

/** The effective configuration: environment over file over default. */
export class Config {
  readonly file: string;
  readonly #values: ReadonlyMap<string, AnyConfigValue>;

  constructor(file: string, values: ReadonlyMap<string, AnyConfigValue>) {
    this.file = file;
    this.#values = values;
  }

  get<Key extends ConfigKey>(key: Key): ConfigValue<Key> {
    const value = this.#values.get(key) ?? convert(key, configKeys[key].type, configKeys[key].default);
    return value as ConfigValue<Key>;
  }

  isSet(key: ConfigKey): boolean {
    return this.#values.has(key);
  }
}

export interface ConfigSource {
  /** `--config`; the file must then exist. */
  readonly file?: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
}

export function configFile(source: ConfigSource): string {
  return source.file ?? source.environment['SVCCTL_CONFIG_FILE'] ?? join(homedir(), '.svcctl.yaml');
}

export function loadConfig(source: ConfigSource): Config {
  const file = configFile(source);
  const values = new Map<string, AnyConfigValue>();
  for (const [key, raw] of Object.entries(readFileKeys(file, source.file !== undefined))) {
    if (!isConfigKey(key))
      throw new CliError(`error reading configuration file: ${file}: unknown key "${key}"`);
    values.set(key, convert(key, configKeys[key].type, raw));
  }
  for (const key of Object.keys(configKeys) as ConfigKey[]) {
    const text = source.environment[variableOf(key)];
    if (text !== undefined && text !== '') values.set(key, convertText(key, configKeys[key].type, text));
  }
  return new Config(file, values);
}

export function variableOf(key: ConfigKey): string {
  return `SVCCTL_${key.toUpperCase().replaceAll('.', '_')}`;
}

function isConfigKey(key: string): key is ConfigKey {
  return Object.hasOwn(configKeys, key);
}

function readFileKeys(file: string, mustExist: boolean): Record<string, unknown> {
  if (!mustExist && !existsSync(file)) return {};
  let document: unknown;
  try {
    document = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CliError(
      `error reading configuration file: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const keys: Record<string, unknown> = {};
  flatten(document, '', keys);
  return keys;
}

function flatten(value: unknown, path: string, into: Record<string, unknown>): void {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap || (isConfigKey(path) && configKeys[path].type === 'map')) {
    if (path !== '' && value !== null) into[path] = value;
    return;
  }
  for (const [key, child] of Object.entries(value))
    flatten(child, path === '' ? key : `${path}.${key}`, into);
}

function convert(key: string, type: KeyType, raw: unknown): AnyConfigValue {
  const bad = (expected: string): CliError =>
    new CliError(`configuration key ${key}: ${expected}, found ${JSON.stringify(raw)}`);
  switch (type) {
    case 'only-string':
      // A number would lose its leading zeros.
      if (typeof raw !== 'string') throw bad('must be a string');
      return raw;
    case 'string':
      return typeof raw === 'string' ? raw : String(raw);
    case 'bool':
      if (typeof raw !== 'boolean') throw bad('must be true or false');
      return raw;
    case 'uint':
      if (typeof raw !== 'number' || !Number.isInteger(raw) || raw < 0) throw bad('must be a whole number');
      return raw;
    case 'positive':
      if (typeof raw !== 'number' || !Number.isInteger(raw) || raw < 1)
        throw bad('must be a whole number above 0');
      return raw;
    case 'duration': {
      const milliseconds = typeof raw === 'number' ? raw * 1000 : parseDuration(String(raw));
      if (milliseconds === undefined) throw bad('must be a duration such as 200ms or 5m');
      return milliseconds;
    }
    case 'map':
      if (typeof raw !== 'object' || raw === null) throw bad('must be a map');
      return Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, String(value)]));
  }
}

function convertText(key: string, type: KeyType, text: string): AnyConfigValue {
  if (type === 'bool') return convert(key, type, parseBoolean(text) ?? text);
  if (type === 'uint' || type === 'positive')
    return convert(key, type, /^\d+$/.test(text) ? Number(text) : text);
  if (type !== 'map') return convert(key, type, text);
  const pairs = text.split(',').map((pair) => {
    const at = pair.indexOf('=');
    if (at < 0) throw new CliError(`configuration key ${key}: invalid key-value pair: ${pair}`);
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}
