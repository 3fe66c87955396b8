import type { TSchema } from 'typebox';
import { bodyError } from './request-error.ts';

interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
}

const patterns = new Map<string, RegExp>();

/**
 * Reads a decoded JSON body by its schema into a fresh value that holds the declared fields only. A field that
 * is null counts as absent. Interpreting the schema needs no compilation at start and lets every refusal name
 * the field.
 */
export function readBySchema(schema: TSchema, value: unknown): unknown {
  return read(schema, value, '');
}

function read(schema: Schema, value: unknown, field: string): unknown {
  switch (schema.type) {
    case 'object':
      return readObject(schema, value, field);
    case 'array':
      return readArray(schema, value, field);
    case 'string':
      return readString(schema, value, field);
    case 'integer':
      return readInteger(schema, value, field);
    case 'boolean':
      if (typeof value !== 'boolean') throw refusal(field, 'expected true or false');
      return value;
    case undefined:
    default:
      throw new TypeError(`the contract uses an unknown type at "${field}"`);
  }
}

function readObject(schema: Schema, value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refusal(field, 'expected an object');
  }
  const given = value as Record<string, unknown>;
  if (schema.properties === undefined) {
    return schema.additionalProperties === undefined
      ? given
      : readMap(schema.additionalProperties, given, field);
  }
  const result: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const member = Object.hasOwn(given, name) ? given[name] : undefined;
    if (member === undefined || member === null) continue;
    result[name] = read(property, member, field === '' ? name : `${field}.${name}`);
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(result, name)) {
      throw refusal(field === '' ? name : `${field}.${name}`, 'value is required but missing');
    }
  }
  return result;
}

function readMap(schema: Schema, given: Record<string, unknown>, field: string): unknown {
  // Without a prototype, so that a key such as __proto__ is a key like any other.
  const result = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(given)) {
    const where = `${field}[${JSON.stringify(name)}]`;
    if (!name.isWellFormed()) throw refusal(where, 'the name is not valid Unicode');
    if (member !== null) result[name] = read(schema, member, where);
  }
  return result;
}

function readArray(schema: Schema, value: unknown, field: string): unknown {
  if (!Array.isArray(value)) throw refusal(field, 'expected a list');
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    throw refusal(field, `expected at least ${schema.minItems} item${schema.minItems === 1 ? '' : 's'}`);
  }
  const items = schema.items ?? {};
  return value.map((item, index) => read(items, item, `${field}[${index}]`));
}

function readString(schema: Schema, value: unknown, field: string): string {
  if (typeof value !== 'string') throw refusal(field, 'expected a string');
  if (!value.isWellFormed()) throw refusal(field, 'not valid Unicode');
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    const expected = schema.enum.map((member) => JSON.stringify(member)).join(', ');
    throw refusal(field, `expected one of ${expected}`);
  }
  if (schema.minLength !== undefined && value.length < schema.minLength) {
    throw refusal(field, `minimum string length is ${schema.minLength}`);
  }
  if (schema.pattern !== undefined && !patternOf(schema.pattern).test(value)) {
    throw refusal(field, `string doesn't match the regular expression "${schema.pattern}"`);
  }
  return value;
}

function readInteger(schema: Schema, value: unknown, field: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw refusal(field, 'expected an integer');
  if (!Number.isSafeInteger(value)) throw refusal(field, 'the number is too large');
  if (schema.minimum !== undefined && value < schema.minimum) {
    throw refusal(field, `number must be at least ${schema.minimum}`);
  }
  if (schema.maximum !== undefined && value > schema.maximum) {
    throw refusal(field, `number must be at most ${schema.maximum}`);
  }
  return value;
}

function refusal(field: string, reason: string): Error {
  return bodyError(field === '' ? reason : `field "${field}": ${reason}`);
}

function patternOf(source: string): RegExp {
  let pattern = patterns.get(source);
  if (pattern === undefined) {
    pattern = new RegExp(source, 's');
    patterns.set(source, pattern);
  }
  return pattern;
}
