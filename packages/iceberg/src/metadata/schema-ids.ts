import { badRequest } from '../errors/iceberg-error.ts';
import { isObject, writeJson, type Json, type JsonObject } from '../json.ts';
import { intIn, listIn, objectsIn, objectIn, textIn } from '../request/fields.ts';

/** The largest id of any field of a struct, 0 when there is none. Refuses what is not a struct. */
export function highestFieldId(struct: JsonObject): number {
  let highest = 0;
  visitIds(struct, (id) => {
    highest = Math.max(highest, id);
  });
  return highest;
}

export function fieldIds(struct: JsonObject): Set<number> {
  const ids = new Set<number>();
  visitIds(struct, (id) => {
    if (ids.has(id)) throw badRequest(`schema: two fields have the id ${id}`);
    ids.add(id);
  });
  return ids;
}

function visitIds(struct: JsonObject, visit: (id: number) => void): void {
  const names = new Set<string>();
  for (const field of objectsIn(struct, 'fields')) {
    const name = textIn(field, 'name');
    if (names.has(name)) throw badRequest(`schema: two fields are called ${JSON.stringify(name)}`);
    names.add(name);
    visit(intIn(field, 'id'));
    visitType(field['type'], visit);
  }
}

function visitType(type: Json | undefined, visit: (id: number) => void): void {
  if (typeof type === 'string' && type !== '') return;
  if (!isObject(type)) throw badRequest('schema: each field needs a type');
  const { type: kind } = type;
  if (kind === 'struct') {
    visitIds(type, visit);
  } else if (kind === 'list') {
    visit(intIn(type, 'element-id'));
    visitType(type['element'], visit);
  } else if (kind === 'map') {
    visit(intIn(type, 'key-id'));
    visit(intIn(type, 'value-id'));
    visitType(type['key'], visit);
    visitType(type['value'], visit);
  } else {
    throw badRequest(`schema: unknown type ${writeJson(kind ?? null)}`);
  }
}

export interface FreshSchema {
  readonly schema: JsonObject;
  readonly lastColumnId: number;
  /** From the ids the caller gave to those the table has. */
  readonly ids: ReadonlyMap<number, number>;
}

/** Numbers the fields of a new table from 1: each struct before what is nested in it. */
export function withFreshIds(schema: JsonObject): FreshSchema {
  fieldIds(schema);
  const ids = new Map<number, number>();
  let last = 0;
  const next = (old: number): number => {
    ids.set(old, ++last);
    return last;
  };
  const freshStruct = (struct: JsonObject): JsonObject => {
    const numbered = objectsIn(struct, 'fields').map((field) => ({ ...field, id: next(intIn(field, 'id')) }));
    const fields = numbered.map((field: JsonObject) => ({ ...field, type: freshType(field['type']) }));
    return { ...struct, fields };
  };
  const freshType = (type: Json | undefined): Json => {
    if (!isObject(type)) return type ?? null;
    if (type['type'] === 'struct') return freshStruct(type);
    if (type['type'] === 'list') {
      const element = next(intIn(type, 'element-id'));
      return { ...type, 'element-id': element, element: freshType(type['element']) };
    }
    const key = next(intIn(type, 'key-id'));
    const value = next(intIn(type, 'value-id'));
    return {
      ...type,
      'key-id': key,
      'value-id': value,
      key: freshType(type['key']),
      value: freshType(type['value']),
    };
  };
  const fresh = freshStruct(schema);
  const identifiers = schema['identifier-field-ids'];
  if (identifiers !== undefined) {
    fresh['identifier-field-ids'] = listIn(schema, 'identifier-field-ids').map((id) => renamed(ids, id));
  }
  return { schema: { ...fresh, type: 'struct', 'schema-id': 0 }, lastColumnId: last, ids };
}

/** A copy of a partition spec or sort order for the ids of a new table. */
export function withSources(of: JsonObject, ids: ReadonlyMap<number, number>): JsonObject {
  const fields = objectsIn(of, 'fields').map((field) => {
    const { 'source-id': one, 'source-ids': many } = field;
    return {
      ...field,
      ...(one === undefined ? {} : { 'source-id': renamed(ids, one) }),
      ...(many === undefined
        ? {}
        : { 'source-ids': listIn(field, 'source-ids').map((id) => renamed(ids, id)) }),
    };
  });
  return { ...of, fields };
}

function renamed(ids: ReadonlyMap<number, number>, id: Json): number {
  const fresh = typeof id === 'number' ? ids.get(id) : undefined;
  if (fresh === undefined) throw badRequest(`no field of the schema has the id ${writeJson(id)}`);
  return fresh;
}

/** The struct in a field of an update or a request. */
export function schemaIn(from: JsonObject): JsonObject {
  const schema = objectIn(from, 'schema');
  if (schema['type'] !== undefined && schema['type'] !== 'struct')
    throw badRequest('schema must be a struct');
  return schema;
}
