import type { JsonSchema } from '../src/index.ts';

/** Writes a schema in the notation of the fact table: `integer(int64)`, `Ref[]`, `map<string>`, `"a"|"b"`. */
export function notation(schema: JsonSchema): string {
  const options = optionsOf(schema);
  return options === '' ? bare(schema) : `${bare(schema)} {${options}}`;
}

function bare(schema: JsonSchema): string {
  const { $ref, type, format, enum: values, items, additionalProperties, properties } = schema;
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join('|');
  if (type === 'array') return `${notation(items as JsonSchema)}[]`;
  if (properties !== undefined) return `{${fieldsOf(schema).join('; ')}}`;
  if (additionalProperties !== undefined) return `map<${notation(additionalProperties as JsonSchema)}>`;
  const name = typeof type === 'string' ? type : 'unknown';
  return typeof format === 'string' ? `${name}(${format})` : name;
}

function optionsOf(schema: JsonSchema): string {
  const options: string[] = [];
  for (const name of ['default', 'minimum', 'maximum', 'minLength', 'minItems', 'pattern']) {
    if (schema[name] !== undefined) options.push(`${name}=${JSON.stringify(schema[name])}`);
  }
  if (schema['nullable'] === true) options.push('nullable');
  return options.join(', ');
}

/** The fields of an object schema, one `name?: type` each. */
export function fieldsOf(schema: JsonSchema): string[] {
  const required = new Set(schema['required'] as string[] | undefined);
  return Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>).map(
    ([name, property]) => `${name}${required.has(name) ? '' : '?'}: ${notation(property)}`,
  );
}

/** Splits `{ a: string; b?: map<x> }` of the fact table into its fields. */
export function factFields(text: string): string[] {
  const fields: string[] = [];
  let depth = 0;
  let quoted = false;
  let field = '';
  for (const character of text.trim().slice(1, -1)) {
    if (character === '"') quoted = !quoted;
    else if (!quoted && '{<'.includes(character)) depth++;
    else if (!quoted && '}>'.includes(character)) depth--;
    if (character === ';' && depth === 0 && !quoted) {
      fields.push(field.trim());
      field = '';
    } else field += character;
  }
  if (field.trim() !== '') fields.push(field.trim());
  return fields;
}
