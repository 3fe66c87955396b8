import type { TProperties, TSchema } from 'typebox';
import { parameterError } from './request-error.ts';
import type { ParameterPlace } from './request-error.ts';
import { parseRfc3339 } from './rfc3339.ts';

type Value = string | number | boolean | string[];

/** How one parameter is read from its text. Built once per operation from the contract. */
export interface Parameter {
  readonly name: string;
  readonly place: ParameterPlace;
  readonly required: boolean;
  readonly isArray: boolean;
  /** In a query, an empty value then counts as absent; an empty header is handed on. */
  readonly mayBeEmpty: boolean;
  readonly defaultValue: Value | undefined;
  parse(text: string): string | number | boolean;
}

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: Value;
  readonly items?: Schema;
  readonly allowEmptyValue?: boolean;
  readonly '~optional'?: true;
}

export function parametersOf(properties: TProperties, place: ParameterPlace): Parameter[] {
  return Object.entries(properties).map(([name, schema]) => parameterOf(name, schema, place));
}

function parameterOf(name: string, typed: TSchema, place: ParameterPlace): Parameter {
  const schema = typed as Schema;
  const isArray = schema.type === 'array';
  return {
    name,
    place,
    required: !('~optional' in schema) && place !== 'path',
    isArray,
    mayBeEmpty: schema.allowEmptyValue === true,
    defaultValue: schema.default,
    parse: parserOf(isArray ? (schema.items ?? {}) : schema, (reason) => parameterError(place, name, reason)),
  };
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'True', 'TRUE'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'False', 'FALSE'].map((text) => [text, false] as const),
]);

function parserOf(schema: Schema, refuse: (reason: string) => Error): Parameter['parse'] {
  if (schema.type === 'boolean') {
    return (text) => {
      const value = booleans.get(text);
      if (value === undefined) throw refuse(`value ${JSON.stringify(text)}: expected true or false`);
      return value;
    };
  }
  if (schema.type === 'integer') {
    const { minimum, maximum } = schema;
    return (text) => {
      const value = /^[+-]?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      if (!Number.isSafeInteger(value)) throw refuse(`value ${JSON.stringify(text)}: expected an integer`);
      if (minimum !== undefined && value < minimum) throw refuse(`number must be at least ${minimum}`);
      if (maximum !== undefined && value > maximum) throw refuse(`number must be at most ${maximum}`);
      return value;
    };
  }
  if (schema.enum !== undefined) {
    const values = new Set(schema.enum);
    const expected = schema.enum.map((value) => JSON.stringify(value)).join(', ');
    return (text) => {
      if (!values.has(text)) throw refuse(`value ${JSON.stringify(text)}: expected one of ${expected}`);
      return text;
    };
  }
  if (schema.format === 'date-time') {
    return (text) => {
      if (parseRfc3339(text) === undefined) {
        throw refuse(`value ${JSON.stringify(text)}: expected a time such as 2024-01-31T12:00:00Z`);
      }
      return text;
    };
  }
  if (schema.pattern !== undefined) {
    const pattern = new RegExp(schema.pattern);
    return (text) => {
      if (!pattern.test(text)) throw refuse(`value ${JSON.stringify(text)} does not match ${pattern.source}`);
      return text;
    };
  }
  return (text) => text;
}
