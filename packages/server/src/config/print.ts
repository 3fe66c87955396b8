import { formatDuration } from './duration.ts';
import { Key } from './key.ts';
import type { Group } from './key.ts';
import type { LoadedConfig, Source } from './load.ts';
import { namedKeys, valueAt } from './schema.ts';

export interface PrintedKey {
  readonly key: string;
  readonly value: string;
  readonly source: string;
}

const masked = '******';
const maskedEmpty = '------';

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === '') return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** One value as a reader should see it: secrets masked, durations with units. */
export function printValue(key: Key<unknown>, value: unknown, mask: string = masked): string {
  if (key.secret) return isEmpty(value) ? maskedEmpty : mask;
  if (value === undefined) return '';
  if (key.type === 'duration' && typeof value === 'number') return formatDuration(value);
  if (key.items !== undefined && Array.isArray(value)) {
    return JSON.stringify(value.map((item: unknown) => maskGroup(key.items ?? {}, item, mask)));
  }
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, member]) => `${name}=${String(member)}`)
      .join(',');
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A group as plain data with masked secrets, members at their default left out. */
export function maskGroup(group: Group, values: unknown, mask: string = masked): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(group)) {
    const value = (values as Record<string, unknown>)[name];
    if (member instanceof Key) {
      if (value === member.default || isEmpty(value)) continue;
      result[name] = member.secret || member.type === 'duration' ? printValue(member, value, mask) : value;
    } else {
      const inner = maskGroup(member, value, mask);
      if (Object.keys(inner).length > 0) result[name] = inner;
    }
  }
  return result;
}

export function describeSource(source: Source | undefined): string {
  if (source === undefined) return 'default';
  if (source.kind === 'preset') return `preset ${source.from}`;
  return source.kind === 'file' ? `file ${source.from}` : `environment ${source.from}`;
}

/** Every key with its effective value and where it came from. */
export function printConfig(loaded: LoadedConfig, mask: string = masked): PrintedKey[] {
  return namedKeys().map(({ name, key }) => ({
    key: name,
    value: printValue(key, valueAt(loaded.config, name), mask),
    source: describeSource(loaded.sources.get(name)),
  }));
}

/** The texts that a secret consists of; a map has one for each name. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** The values of all secret keys, for removing them from anything that leaves the process. */
export function secretValues(loaded: Pick<LoadedConfig, 'config'>): string[] {
  const found: string[] = [];
  const collect = (group: Group, values: unknown): void => {
    for (const [name, member] of Object.entries(group)) {
      const value = (values as Record<string, unknown>)[name];
      if (!(member instanceof Key)) collect(member, value);
      else if (member.secret) found.push(...textsOf(value));
      else if (member.items !== undefined && Array.isArray(value)) {
        for (const item of value) collect(member.items, item);
      }
    }
  };
  for (const { name, key } of namedKeys()) {
    const value = valueAt(loaded.config, name);
    if (key.secret) found.push(...textsOf(value));
    if (key.items !== undefined && Array.isArray(value)) for (const item of value) collect(key.items, item);
  }
  return found;
}
