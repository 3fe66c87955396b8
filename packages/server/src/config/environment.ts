import type { RawValue } from './key.ts';
import { ValueError, parseJson } from './key.ts';
import type { NamedKey } from './schema.ts';

export interface EnvironmentValues {
  readonly values: readonly { name: string; written: string; variable: string; value: string }[];
  /** Variables that hold a whole group as a JSON object. */
  readonly objects: readonly {
    group: string;
    variable: string;
    tree: Readonly<Record<string, RawValue>>;
  }[];
  /** LAKEFS_ variables that were used. */
  readonly fallbacks: readonly string[];
  readonly problems: readonly string[];
}

export function variableName(key: string, prefix = 'SVC_'): string {
  return prefix + key.toUpperCase().replaceAll('.', '_');
}

/** Picks the variables of known keys; an empty one counts as unset. */
export function readEnvironment(
  keys: readonly NamedKey[],
  groups: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): EnvironmentValues {
  const fallbacks: string[] = [];
  const problems: string[] = [];
  const read = (key: string): { variable: string; value: string } | undefined => {
    const own = env[variableName(key)];
    if (own !== undefined && own !== '') return { variable: variableName(key), value: own };
    const variable = variableName(key, 'LAKEFS_');
    const value = env[variable];
    if (value === undefined || value === '') return undefined;
    fallbacks.push(variable);
    return { variable, value };
  };

  const objects = groups.flatMap((group) => {
    const own = env[variableName(group)] ?? env[variableName(group, 'LAKEFS_')];
    if (own === undefined || !own.trimStart().startsWith('{')) return [];
    const found = read(group);
    if (found === undefined) return [];
    try {
      const tree = parseJson(found.value) as Readonly<Record<string, RawValue>>;
      return [{ group, variable: found.variable, tree }];
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      problems.push(`${group}: ${error.message} (from ${found.variable})`);
      return [];
    }
  });
  const values = keys.flatMap(({ name, key }) =>
    [name, ...key.aliases].flatMap((written) => {
      const found = read(written);
      return found === undefined ? [] : [{ name, written, ...found }];
    }),
  );
  return { values, objects, fallbacks, problems };
}
