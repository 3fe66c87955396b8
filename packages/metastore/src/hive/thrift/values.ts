/** Thrift values with their types, so that what we do not know survives being read and written. */
export type ThriftValue =
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'byte' | 'i16' | 'i32' | 'double'; readonly value: number }
  | { readonly type: 'i64'; readonly value: bigint }
  | { readonly type: 'string'; readonly value: Buffer }
  | { readonly type: 'struct'; readonly fields: ThriftFields }
  | { readonly type: 'list' | 'set'; readonly item: ThriftType; readonly items: readonly ThriftValue[] }
  | {
      readonly type: 'map';
      readonly key: ThriftType;
      readonly item: ThriftType;
      readonly entries: readonly (readonly [ThriftValue, ThriftValue])[];
    };

export type ThriftType = ThriftValue['type'];

/** A struct: field id to value. */
export type ThriftFields = ReadonlyMap<number, ThriftValue>;

export const typeCodes: Readonly<Record<ThriftType, number>> = {
  bool: 2,
  byte: 3,
  double: 4,
  i16: 6,
  i32: 8,
  i64: 10,
  string: 11,
  struct: 12,
  map: 13,
  set: 14,
  list: 15,
};

export const messageTypes = { call: 1, reply: 2, exception: 3 } as const;

/** The first half of a message's first word. */
export const protocolVersion = 0x8001;

export function text(value: string): ThriftValue {
  return { type: 'string', value: Buffer.from(value) };
}

export function i16(value: number): ThriftValue {
  return { type: 'i16', value };
}

export function i32(value: number): ThriftValue {
  return { type: 'i32', value };
}

export function bool(value: boolean): ThriftValue {
  return { type: 'bool', value };
}

export function struct(fields: ThriftFields): ThriftValue {
  return { type: 'struct', fields };
}

export function texts(values: readonly string[]): ThriftValue {
  return { type: 'list', item: 'string', items: values.map((value) => text(value)) };
}

export function structs(values: readonly ThriftFields[]): ThriftValue {
  return { type: 'list', item: 'struct', items: values.map((fields) => struct(fields)) };
}

export function textMap(map: Readonly<Record<string, string>>): ThriftValue {
  const entries = Object.entries(map).map(([key, value]) => [text(key), text(value)] as const);
  return { type: 'map', key: 'string', item: 'string', entries };
}

/** A struct of the given fields; those that are undefined are left out. */
export function fieldsOf(
  entries: Readonly<Record<number, ThriftValue | undefined>>,
): Map<number, ThriftValue> {
  const fields = new Map<number, ThriftValue>();
  for (const [id, value] of Object.entries(entries)) if (value !== undefined) fields.set(Number(id), value);
  return fields;
}

export function textIn(fields: ThriftFields, id: number): string | undefined {
  const value = fields.get(id);
  return value?.type === 'string' ? value.value.toString() : undefined;
}

export function numberIn(fields: ThriftFields, id: number): number | undefined {
  const value = fields.get(id);
  return value?.type === 'i32' || value?.type === 'i16' || value?.type === 'byte' ? value.value : undefined;
}

export function boolIn(fields: ThriftFields, id: number): boolean | undefined {
  const value = fields.get(id);
  return value?.type === 'bool' ? value.value : undefined;
}

export function structIn(fields: ThriftFields, id: number): ThriftFields | undefined {
  const value = fields.get(id);
  return value?.type === 'struct' ? value.fields : undefined;
}

export function textsIn(fields: ThriftFields, id: number): string[] {
  return itemsIn(fields, id).flatMap((item) => (item.type === 'string' ? [item.value.toString()] : []));
}

export function structsIn(fields: ThriftFields, id: number): ThriftFields[] {
  return itemsIn(fields, id).flatMap((item) => (item.type === 'struct' ? [item.fields] : []));
}

export function textMapIn(fields: ThriftFields, id: number): Record<string, string> {
  const value = fields.get(id);
  const pairs = (value?.type === 'map' ? value.entries : []).flatMap(([key, item]) =>
    key.type === 'string' && item.type === 'string' ? [[key.value.toString(), item.value.toString()]] : [],
  );
  return Object.fromEntries(pairs) as Record<string, string>;
}

function itemsIn(fields: ThriftFields, id: number): readonly ThriftValue[] {
  const value = fields.get(id);
  return value?.type === 'list' || value?.type === 'set' ? value.items : [];
}
