import { ValueError } from './key.ts';
import type { Key, RawValue } from './key.ts';
import { readEnvironment } from './environment.ts';
import { findConfigFile, readConfigFile } from './file.ts';
import { NestedProblems, defaultsOf, expandHome } from './parse-group.ts';
import { presetProblems, presetValues } from './presets.ts';
import type { Preset } from './presets.ts';
import { groupNames, namedKeys, schema, valueAt } from './schema.ts';
import type { Config, NamedKey } from './schema.ts';
import { missingKeys, validateConfig } from './validate.ts';

/** Where a value came from. */
export interface Source {
  readonly kind: 'default' | 'preset' | 'file' | 'environment';
  /** The file's path, the variable's or the preset's name. */
  readonly from: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Source of every key that is not at its default. */
  readonly sources: ReadonlyMap<string, Source>;
  /** The file that was read. */
  readonly file: string | undefined;
  readonly preset: Preset | undefined;
  /** What an operator should know, each a sentence. */
  readonly warnings: readonly string[];
}

export interface LoadOptions {
  /** Path given with `--config`; it must exist. */
  readonly file?: string | undefined;
  readonly preset?: Preset | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where `./config.yaml` is looked up. */
  readonly cwd?: string;
}

/** Everything wrong with the configuration, found in one pass. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

interface GivenValue {
  /** The name the user wrote it under: the key's own or an alias. */
  readonly written: string;
  readonly raw: RawValue;
  readonly source: Source;
}

const keys = namedKeys();
const byName = indexByName(keys);
const groups = groupNames();

/** Loads the configuration; reads files but creates nothing. Throws `ConfigError` with every problem at once. */
export function loadConfig(options: LoadOptions = {}): LoadedConfig {
  const env = options.env ?? process.env;
  const problems: string[] = [];
  const unknown: string[] = [];
  const warnings: string[] = [];
  const given = new Map<string, GivenValue[]>();
  const remember = (name: string, value: GivenValue): void => {
    given.set(name, [...(given.get(name) ?? []), value]);
  };

  const file = options.file ?? findConfigFile(env, options.cwd ?? process.cwd());
  if (file !== undefined) {
    const tree = readConfigFile(file);
    const collect = (name: string, written: string, raw: RawValue): void =>
      remember(name, { written, raw, source: { kind: 'file', from: file } });
    collectTree(tree, '', collect, unknown, problems);
  }

  const environment = readEnvironment(keys, groups, env);
  problems.push(...environment.problems);
  if (environment.fallbacks.length > 0) {
    warnings.push(
      `variables with the prefix LAKEFS_ are used because their SVC_ form is not set: ${environment.fallbacks.join(', ')}`,
    );
  }
  for (const { variable, group, tree } of environment.objects) {
    const collect = (name: string, written: string, raw: RawValue): void =>
      remember(name, { written, raw, source: { kind: 'environment', from: variable } });
    collectTree(tree, `${group}.`, collect, unknown, problems);
  }
  for (const { name, written, variable, value } of environment.values) {
    remember(name, { written, raw: value, source: { kind: 'environment', from: variable } });
  }

  const config = defaultsOf(schema);
  const sources = new Map<string, Source>();
  const bad: string[] = [];
  const unavailable = new Map<string, string[]>();
  for (const [name, value] of Object.entries(presetValues(options.preset))) {
    setAt(config, name, value);
    sources.set(name, { kind: 'preset', from: `--${options.preset ?? ''}` });
  }
  for (const { name, key } of keys) {
    const values = given.get(name);
    if (values === undefined) continue;
    const spellings = [...new Set(values.map((value) => value.written))];
    if (spellings.length > 1) {
      problems.push(`${spellings.join(' and ')} are the same key; give only one of them`);
      continue;
    }
    const last = values.at(-1);
    if (last === undefined) continue;
    if (!apply(name, key, last, config, problems, unknown)) bad.push(name);
    sources.set(name, last.source);
    if (key.ignored !== undefined) warnings.push(`${last.written} is ignored: ${key.ignored}`);
    if (key.unavailable !== undefined) {
      const written = unavailable.get(key.unavailable) ?? [];
      unavailable.set(key.unavailable, [...written, last.written]);
    }
  }

  if (unknown.length > 0) problems.unshift(`unknown configuration keys: ${unknown.join(', ')}`);
  const missing = missingKeys(config, sources);
  if (missing.length > 0) problems.push(`bad configuration: missing required keys: [${missing.join(' ')}]`);
  problems.push(...presetProblems(options.preset, config));
  const checked = validateConfig(config, sources);
  // A key that was refused already stands at its default now; what follows from that would only confuse.
  problems.push(...checked.problems.filter((problem) => !bad.some((name) => problem.includes(name))));
  warnings.push(...checked.warnings);
  for (const [feature, written] of unavailable) {
    warnings.push(`${written.join(', ')}: without effect, ${feature} is not part of this version`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { config, sources, file, preset: options.preset, warnings };
}

/** Lower-case dotted names and aliases to the key's own name. */
function indexByName(keys: readonly NamedKey[]): Map<string, string> {
  const index = new Map<string, string>();
  for (const { name, key } of keys) {
    index.set(name.toLowerCase(), name);
    for (const alias of key.aliases) index.set(alias.toLowerCase(), name);
  }
  return index;
}

function collectTree(
  tree: Readonly<Record<string, RawValue>>,
  prefix: string,
  collect: (name: string, written: string, raw: RawValue) => void,
  unknown: string[],
  problems: string[],
): void {
  for (const [given, value] of Object.entries(tree)) {
    const written = prefix + given;
    const name = byName.get(written.toLowerCase());
    if (name !== undefined) {
      collect(name, written.toLowerCase(), value);
    } else if (isGroup(written)) {
      if (typeof value === 'string' || Array.isArray(value)) {
        if (value !== '') problems.push(`${written}: must be a map of keys, not ${JSON.stringify(value)}`);
      } else {
        const inner = value as Readonly<Record<string, RawValue>>;
        collectTree(inner, `${written}.`, collect, unknown, problems);
      }
    } else {
      unknown.push(...leafNames(written, value));
    }
  }
}

function isGroup(written: string): boolean {
  const prefix = `${written.toLowerCase()}.`;
  for (const name of byName.keys()) if (name.startsWith(prefix)) return true;
  return false;
}

function leafNames(written: string, value: RawValue): string[] {
  if (typeof value === 'string' || Array.isArray(value)) return [written];
  const members = Object.entries(value as Readonly<Record<string, RawValue>>);
  if (members.length === 0) return [written];
  return members.flatMap(([name, member]) => leafNames(`${written}.${name}`, member));
}

function apply(
  name: string,
  key: Key<unknown>,
  value: GivenValue,
  config: Config,
  problems: string[],
  unknown: string[],
): boolean {
  try {
    const parsed = key.parse(value.raw);
    setAt(config, name, key.path ? expandHome(String(parsed)) : parsed);
    return true;
  } catch (error) {
    if (error instanceof NestedProblems) {
      problems.push(...error.problems.map((problem) => `${name}${problem}`));
      unknown.push(...error.unknown.map((member) => name + member));
    } else if (error instanceof ValueError) {
      const shown = key.secret ? '******' : JSON.stringify(value.raw);
      const where = value.source.kind === 'environment' ? ` (from ${value.source.from})` : '';
      problems.push(`${value.written}: ${error.message}, not ${shown}${where}`);
    } else {
      throw error;
    }
    return false;
  }
}

export function setAt(config: Config, name: string, value: unknown): void {
  const parts = name.split('.');
  const last = parts.pop() ?? name;
  const group = parts.length === 0 ? config : valueAt(config, parts.join('.'));
  (group as Record<string, unknown>)[last] = value;
}
