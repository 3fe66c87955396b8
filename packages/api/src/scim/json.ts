import { invalid } from './scim-error.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member by its name, whose case does not matter. */
export function member(object: JsonObject, name: string): unknown {
  const lower = name.toLowerCase();
  const key = Object.keys(object).find((each) => each.toLowerCase() === lower);
  return key === undefined ? undefined : object[key];
}

/** Undefined when it is not there; nothing and an empty text count as not there. */
export function optionalText(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw invalid('invalidValue', `${name} must be a text`);
  return value;
}

/** Some providers send truth as text. */
export function truth(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalid('invalidValue', `${name} must be true or false`);
}
