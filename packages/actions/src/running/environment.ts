import { ConstructionError } from './errors.ts';

/** What hooks may read of the environment. */
export interface EnvironmentAccess {
  readonly enabled: boolean;
  /** Only variables with it; `''` shows all. */
  readonly prefix: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** A text that may hold something secret; whatever came from the environment is. */
export interface HookText {
  readonly value: string;
  readonly isSecret: boolean;
}

const reference = /\{\{ ?ENV\.(.*?) ?\}\}/g;

/** Puts variables into a text. Throws `ConstructionError` when one that may be read is not set. */
export function substitute(text: string, access: EnvironmentAccess): HookText {
  let isSecret = false;
  const value = text.replace(reference, (_, name: string) => {
    isSecret = true;
    if (!access.enabled || !name.startsWith(access.prefix)) return '';
    const found = access.variables[name];
    if (found === undefined) throw new ConstructionError(`${name} not found: missing env var`);
    return found;
  });
  return { value, isSecret };
}

/** Puts variables into every string of a value, at any depth; keys stay as they are. */
export function substituteDeep(value: unknown, access: EnvironmentAccess): unknown {
  if (typeof value === 'string') return substitute(value, access).value;
  if (Array.isArray(value)) return value.map((item) => substituteDeep(item, access));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, substituteDeep(item, access)]));
}

/** How a text is shown in logs. */
export function shown(text: HookText): string {
  return text.isSecret ? '*******' : text.value;
}
