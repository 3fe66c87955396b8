import { badRequest } from '../errors/iceberg-error.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';

/** Whole numbers; those that a number cannot hold are bigints. */
export type Id = number | bigint;

export function objectOf(value: Json | undefined, what: string): JsonObject {
  if (!isObject(value)) throw badRequest(`${what} must be an object`);
  return value;
}

export function objectIn(from: JsonObject, name: string): JsonObject {
  return objectOf(from[name], name);
}

export function textIn(from: JsonObject, name: string): string {
  const value = from[name];
  if (typeof value !== 'string' || value === '') throw badRequest(`${name} must be a text that is not empty`);
  return value;
}

export function idIn(from: JsonObject, name: string): Id {
  const value = from[name];
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) return value;
  throw badRequest(`${name} must be a whole number`);
}

export function intIn(from: JsonObject, name: string): number {
  const value = idIn(from, name);
  if (typeof value === 'bigint') throw badRequest(`${name} is too large`);
  return value;
}

export function optionalInt(from: JsonObject, name: string): number | undefined {
  return from[name] === undefined || from[name] === null ? undefined : intIn(from, name);
}

export function listIn(from: JsonObject, name: string): Json[] {
  const value = from[name];
  if (!Array.isArray(value)) throw badRequest(`${name} must be a list`);
  return value;
}

export function objectsIn(from: JsonObject, name: string): JsonObject[] {
  return listIn(from, name).map((item) => objectOf(item, `each of ${name}`));
}

export function textsOf(value: Json | undefined, name: string): string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw badRequest(`${name} must be a list of texts`);
  }
  return value;
}

/** Absent is empty. */
export function stringMapIn(from: JsonObject, name: string): Record<string, string> {
  const value = from[name] ?? {};
  const entries = Object.entries(objectOf(value, name));
  for (const [key, text] of entries) {
    if (typeof text !== 'string')
      throw badRequest(`${name}: the value of ${JSON.stringify(key)} must be a text`);
  }
  return Object.fromEntries(entries) as Record<string, string>;
}
