import { inflateRawSync, zstdDecompressSync } from 'node:zlib';
import { badRequest } from '../errors/iceberg-error.ts';
import { isObject, parseJson, type Json } from '../json.ts';
import type { Id } from '../request/fields.ts';

/** A record has its fields by their Iceberg ids, those without one by name. */
export type AvroValue = null | boolean | Id | string | Buffer | AvroValue[] | AvroRecord;
export interface AvroRecord {
  readonly [field: string]: AvroValue | undefined;
}

const magic = Buffer.from('Obj\u0001', 'latin1');
const syncLength = 16;
/** More than any list that a table has. */
const maxBytes = 64 * 1024 * 1024;
const maxItems = 1_000_000;

const decompress: Readonly<Record<string, (data: Buffer) => Buffer>> = {
  null: (data) => data,
  deflate: (data) => inflateRawSync(data, { maxOutputLength: maxBytes }),
  zstandard: (data) => zstdDecompressSync(data, { maxOutputLength: maxBytes }),
};

/** All records of an Avro file. The file may say anything: what cannot be read is refused. */
export function readAvro(bytes: Buffer): AvroRecord[] {
  try {
    return recordsOf(bytes);
  } catch (error) {
    throw badRequest(`not an Avro file that can be read: ${(error as Error).message}`);
  }
}

function recordsOf(bytes: Buffer): AvroRecord[] {
  const input = new AvroInput(bytes);
  if (!input.take(magic.length).equals(magic)) throw new Error('it begins otherwise');
  const header = new Map<string, Buffer>();
  input.items(() => header.set(input.bytes().toString(), input.bytes()));
  const schema = parseJson((header.get('avro.schema') ?? '').toString());
  const codec = (header.get('avro.codec') ?? 'null').toString();
  const open = Object.hasOwn(decompress, codec) ? decompress[codec] : undefined;
  if (open === undefined) throw new Error(`its codec is ${JSON.stringify(codec)}`);
  const sync = input.take(syncLength);
  const records: AvroRecord[] = [];
  while (!input.atEnd) {
    const count = Number(input.long());
    const block = new AvroInput(open(input.take(Number(input.long()))));
    if (count < 0 || records.length + count > maxItems) throw new Error('it has too many records');
    for (let at = 0; at < count; at++) records.push(read(schema, block) as AvroRecord);
    if (!input.take(syncLength).equals(sync)) throw new Error('a block ends elsewhere than it says');
  }
  return records;
}

function read(schema: Json | undefined, input: AvroInput): AvroValue {
  if (Array.isArray(schema)) return read(schema[Number(input.long())], input);
  const { type, ...rest } = isObject(schema) ? schema : { type: schema };
  if (typeof type === 'object') return read(type, input);
  switch (String(type)) {
    case 'null':
      return null;
    case 'boolean':
      return input.take(1)[0] === 1;
    case 'int':
    case 'long':
      return input.long();
    case 'float':
      return input.take(4).readFloatLE();
    case 'double':
      return input.take(8).readDoubleLE();
    case 'bytes':
      return input.bytes();
    case 'string':
      return input.bytes().toString();
    case 'fixed':
      return input.take(Number(rest['size']));
    case 'enum':
      return input.long();
    case 'array': {
      const items: AvroValue[] = [];
      input.items(() => items.push(read(rest['items'], input)));
      return items;
    }
    case 'map': {
      const entries: [string, AvroValue][] = [];
      input.items(() => entries.push([input.bytes().toString(), read(rest['values'], input)]));
      return Object.fromEntries(entries);
    }
    case 'record':
      return readRecord(rest['fields'], input);
    default:
      throw new Error(`its schema has the type ${String(type)}`);
  }
}

function readRecord(fields: Json | undefined, input: AvroInput): AvroRecord {
  if (!Array.isArray(fields)) throw new Error('a record of its schema has no fields');
  const record: Record<string, AvroValue> = {};
  for (const field of fields) {
    if (!isObject(field)) throw new Error('a field of its schema is none');
    const { 'field-id': id, name } = field;
    record[typeof id === 'number' ? String(id) : textOf(name)] = read(field['type'], input);
  }
  return record;
}

function textOf(name: Json | undefined): string {
  return typeof name === 'string' ? name : '';
}

class AvroInput {
  readonly #bytes: Buffer;
  #at = 0;
  #items = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (!(length >= 0) || end > this.#bytes.length) throw new Error('it is cut off');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  bytes(): Buffer {
    return this.take(Number(this.long()));
  }

  /** Zigzag: what a number cannot hold is a bigint. */
  long(): Id {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.take(1)[0] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if ((byte & 0x80) === 0) break;
      if (shift > 63n) throw new Error('a number is too long');
    }
    const signed = BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
    const number = Number(signed);
    return Number.isSafeInteger(number) ? number : signed;
  }

  /** The items of an array or map, which come in blocks. */
  items(each: () => void): void {
    for (;;) {
      const count = Number(this.long());
      if (count === 0) return;
      // A negative count is followed by the size of the block.
      if (count < 0) this.long();
      this.#items += Math.abs(count);
      if (this.#items > maxItems) throw new Error('it has too many items');
      for (let at = 0; at < Math.abs(count); at++) each();
    }
  }
}
