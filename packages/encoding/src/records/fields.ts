import type { StringMap } from './string-map.ts';
import { emptyStringMap } from './string-map.ts';
import type { Timestamp } from './timestamp.ts';
import { zeroTimestamp } from './timestamp.ts';
import type { WireReader } from './wire.ts';
import { WireReader as Reader, WireWriter, wireVarint } from './wire.ts';

/** How one field of a message is stored: proto3 rules, defaults left out. */
export interface Field<T> {
  readonly number: number;
  readonly initial: T;
  write(writer: WireWriter, value: T): void;
  /** Returns the new value; repeated fields and maps add to `current`. */
  read(reader: WireReader, wireType: number, current: T): T;
}

/** Any field, whatever its type. */
interface SomeField {
  readonly number: number;
  readonly initial: unknown;
  write(writer: WireWriter, value: never): void;
  read(reader: WireReader, wireType: number, current: never): unknown;
}

type Fields = Record<string, SomeField>;
type FieldValue<F> = F extends { readonly initial: infer T } ? T : never;
type Simplify<T> = { [K in keyof T]: T[K] };

/** The plain object a message is read into and written from. */
export type MessageOf<M> = M extends Message<infer T> ? T : never;

/** Fields a newer writer added; carried along so that rewriting a record never drops them. */
export interface WithUnknownFields {
  readonly unknownFields?: Buffer | undefined;
}

export interface Message<T> {
  encode(value: T): Buffer;
  decode(bytes: Uint8Array): T & WithUnknownFields;
  write(writer: WireWriter, value: T): void;
}

/** A message as a table of fields; written in field-number order. */
export function message<F extends Fields>(
  fields: F,
): Message<Simplify<{ readonly [K in keyof F]: FieldValue<F[K]> }>> {
  type Value = Record<string, unknown>;
  const entries = Object.entries(fields).map(([name, field]) => ({
    name,
    field: field as Field<unknown>,
  }));
  entries.sort((left, right) => left.field.number - right.field.number);
  const byNumber = new Map(entries.map((entry) => [entry.field.number, entry]));

  function write(writer: WireWriter, value: Value): void {
    for (const { name, field } of entries) field.write(writer, value[name]);
    const unknownFields = value['unknownFields'] as Buffer | undefined;
    if (unknownFields !== undefined) writer.raw(unknownFields);
  }

  function decode(bytes: Uint8Array): Value {
    const reader = new Reader(asBuffer(bytes));
    const value: Value = {};
    for (const { name, field } of entries) value[name] = field.initial;
    let unknown: Buffer[] | undefined;
    while (!reader.done) {
      const start = reader.position;
      const tag = reader.varint();
      const entry = byNumber.get(Math.floor(tag / 8));
      if (entry === undefined) {
        reader.skip(tag & 7);
        unknown ??= [];
        unknown.push(reader.slice(start, reader.position));
      } else value[entry.name] = entry.field.read(reader, tag & 7, value[entry.name]);
    }
    if (unknown !== undefined) value['unknownFields'] = Buffer.concat(unknown);
    return value;
  }

  function encode(value: Value): Buffer {
    const writer = new WireWriter();
    write(writer, value);
    return writer.finish();
  }

  return { encode, decode, write } as unknown as Message<
    Simplify<{ readonly [K in keyof F]: FieldValue<F[K]> }>
  >;
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function text(number: number): Field<string> {
  return {
    number,
    initial: '',
    write: (writer, value) => {
      if (value !== '') writer.string(number, value);
    },
    read: (reader) => reader.string(),
  };
}

/** A string whose presence counts: `""` is stored, absent is not. */
export function optionalText(number: number): Field<string | undefined> {
  return {
    number,
    initial: undefined,
    write: (writer, value) => {
      if (value !== undefined) writer.string(number, value);
    },
    read: (reader) => reader.string(),
  };
}

export function texts(number: number): Field<readonly string[]> {
  return {
    number,
    initial: [],
    write: (writer, values) => {
      for (const value of values) writer.string(number, value);
    },
    read: (reader, _wireType, current) => [...current, reader.string()],
  };
}

const noBytes: Buffer = Buffer.alloc(0);

export function bytes(number: number): Field<Buffer> {
  return {
    number,
    initial: noBytes,
    write: (writer, value) => {
      if (value.length > 0) writer.bytes(number, value);
    },
    read: (reader) => Buffer.from(reader.bytes()),
  };
}

/** int64, uint64 or an enum. */
export function integer(number: number): Field<number> {
  return {
    number,
    initial: 0,
    write: (writer, value) => {
      if (value !== 0) writer.integer(number, value);
    },
    read: (reader) => reader.integer(),
  };
}

export function int32(number: number): Field<number> {
  return {
    number,
    initial: 0,
    write: (writer, value) => {
      if (value !== 0) writer.integer(number, value | 0);
    },
    read: (reader) => reader.int32(),
  };
}

export function optionalInt32(number: number): Field<number | undefined> {
  return {
    number,
    initial: undefined,
    write: (writer, value) => {
      if (value !== undefined) writer.integer(number, value | 0);
    },
    read: (reader) => reader.int32(),
  };
}

export function flag(number: number): Field<boolean> {
  return {
    number,
    initial: false,
    write: (writer, value) => {
      if (value) writer.integer(number, 1);
    },
    read: (reader) => reader.varint() !== 0,
  };
}

/** Written even when zero, as a set sub-message is. */
export function timestamp(number: number): Field<Timestamp> {
  return {
    number,
    initial: zeroTimestamp,
    write: (writer, value) => writeTimestamp(writer, number, value),
    read: (reader) => readTimestamp(reader.bytes()),
  };
}

export function optionalTimestamp(number: number): Field<Timestamp | undefined> {
  return {
    number,
    initial: undefined,
    write: (writer, value) => {
      if (value !== undefined) writeTimestamp(writer, number, value);
    },
    read: (reader) => readTimestamp(reader.bytes()),
  };
}

export function writeTimestamp(writer: WireWriter, number: number, value: Timestamp): void {
  writer.message(number, (inner) => {
    if (value.seconds !== 0) inner.integer(1, value.seconds);
    if (value.nanos !== 0) inner.integer(2, value.nanos);
  });
}

export function readTimestamp(slice: Buffer, start = 0, end = slice.length): Timestamp {
  const reader = new Reader(slice, start, end);
  let seconds = 0;
  let nanos = 0;
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === 8) seconds = reader.integer();
    else if (tag === 16) nanos = reader.int32();
    else reader.skip(tag & 7);
  }
  return { seconds, nanos };
}

/** A sub-message; undefined is not written. */
export function embedded<T>(number: number, type: Message<T>): Field<T | undefined> {
  return {
    number,
    initial: undefined,
    write: (writer, value) => {
      if (value !== undefined) writer.message(number, (inner) => type.write(inner, value));
    },
    read: (reader) => type.decode(reader.bytes()),
  };
}

export function repeated<T>(number: number, type: Message<T>): Field<readonly T[]> {
  return {
    number,
    initial: [],
    write: (writer, values) => {
      for (const value of values) writer.message(number, (inner) => type.write(inner, value));
    },
    read: (reader, _wireType, current) => [...current, type.decode(reader.bytes())],
  };
}

/** Repeated enum, packed; unpacked is accepted. */
export function packedEnums(number: number): Field<readonly number[]> {
  return {
    number,
    initial: [],
    write: (writer, values) => {
      if (values.length === 0) return;
      writer.message(number, (inner) => {
        for (const value of values) inner.varint(value);
      });
    },
    read: (reader, wireType, current) => {
      if (wireType === wireVarint) return [...current, reader.varint()];
      const inner = new Reader(reader.bytes());
      const values = [...current];
      while (!inner.done) values.push(inner.varint());
      return values;
    },
  };
}

export function stringMap(number: number): Field<StringMap> {
  return {
    number,
    initial: emptyStringMap,
    write: (writer, value) => writeStringMap(writer, number, value),
    read: (reader, _wireType, current) => {
      const map =
        current === emptyStringMap
          ? (Object.create(null) as Record<string, string>)
          : (current as Record<string, string>);
      readStringMapEntry(reader.bytes(), map);
      return map;
    },
  };
}

/** Sorted by key bytes, both fields always present. */
export function writeStringMap(writer: WireWriter, number: number, value: StringMap): void {
  for (const key of sortedKeys(value)) {
    writer.message(number, (inner) => {
      inner.string(1, key);
      inner.string(2, value[key] ?? '');
    });
  }
}

export function readStringMapEntry(slice: Buffer, into: Record<string, string>): void {
  const reader = new Reader(slice);
  let key = '';
  let value = '';
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === 10) key = reader.string();
    else if (tag === 18) value = reader.string();
    else reader.skip(tag & 7);
  }
  into[key] = value;
}

/** map<string, message>. */
export function messageMap<T>(number: number, type: Message<T>): Field<Readonly<Record<string, T>>> {
  return {
    number,
    initial: noEntries,
    write: (writer, value) => {
      for (const key of sortedKeys(value)) {
        writer.message(number, (inner) => {
          inner.string(1, key);
          inner.message(2, (element) => type.write(element, value[key] as T));
        });
      }
    },
    read: (reader, _wireType, current) => {
      const entry = new Reader(reader.bytes());
      let key = '';
      let value = type.decode(noBytes);
      while (!entry.done) {
        const tag = entry.varint();
        if (tag === 10) key = entry.string();
        else if (tag === 18) value = type.decode(entry.bytes());
        else entry.skip(tag & 7);
      }
      return extended(current, key, value);
    },
  };
}

/** map<string, int32>. */
export function int32Map(number: number): Field<Readonly<Record<string, number>>> {
  return {
    number,
    initial: noEntries,
    write: (writer, value) => {
      for (const key of sortedKeys(value)) {
        writer.message(number, (inner) => {
          inner.string(1, key);
          inner.integer(2, (value[key] ?? 0) | 0);
        });
      }
    },
    read: (reader, _wireType, current) => {
      const entry = new Reader(reader.bytes());
      let key = '';
      let value = 0;
      while (!entry.done) {
        const tag = entry.varint();
        if (tag === 10) key = entry.string();
        else if (tag === 16) value = entry.int32();
        else entry.skip(tag & 7);
      }
      return extended(current, key, value);
    },
  };
}

/** Without a prototype, as every map: `constructor` is a key like any other, also in an empty one. */
const noEntries: Readonly<Record<string, never>> = Object.freeze(
  Object.create(null) as Record<string, never>,
);

function extended<T>(map: Readonly<Record<string, T>>, key: string, value: T): Readonly<Record<string, T>> {
  const copy = Object.assign(Object.create(null) as Record<string, T>, map);
  copy[key] = value;
  return copy;
}

/** Keys in the order of their UTF-8 bytes, which differs from JavaScript's for astral characters. */
export function sortedKeys(map: object): string[] {
  const keys = Object.keys(map);
  if (keys.length < 2) return keys;
  return keys.sort(compareUtf8);
}

/** Order of the UTF-8 encodings of two strings. */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    let a = left.charCodeAt(index);
    let b = right.charCodeAt(index);
    if (a === b) continue;
    // Surrogates sort above the rest of the BMP in UTF-8; shift both halves to where they belong.
    if (a >= 0xd800 && b >= 0xd800) {
      a = a >= 0xe000 ? a - 0x800 : a + 0x2000;
      b = b >= 0xe000 ? b - 0x800 : b + 0x2000;
    }
    return a - b;
  }
  return left.length - right.length;
}
