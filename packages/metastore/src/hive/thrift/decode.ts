import { MetastoreError } from '../../metastore-error.ts';
import type { ThriftMessage } from './encode.ts';
import {
  protocolVersion,
  typeCodes,
  type ThriftFields,
  type ThriftType,
  type ThriftValue,
} from './values.ts';

const maxDepth = 64;
/** Nothing in a metastore is that long: what claims to be was not sent by one. */
const maxLength = 256 * 1024 * 1024;

const typesByCode = new Map(
  Object.entries(typeCodes).map(([name, code]) => [code, name as ThriftType] as const),
);

/** Bytes as they come, of which messages are taken from the front. */
export class Input {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  get length(): number {
    return this.#bytes.length - this.#at;
  }

  append(bytes: Buffer): void {
    this.#bytes = this.length === 0 ? bytes : Buffer.concat([this.#bytes.subarray(this.#at), bytes]);
    this.#at = 0;
  }

  take(count: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + count);
    this.#at += count;
    return taken;
  }
}

/** Reads one message; yields when it needs more bytes than have come. */
type Reading<T> = Generator<undefined, T, undefined>;

export function* decodeMessage(input: Input): Reading<ThriftMessage> {
  const first = yield* word(input);
  if (first >>> 16 !== protocolVersion) {
    throw broken('its answer is not Thrift in the binary protocol');
  }
  const name = (yield* bytes(input)).toString();
  const sequence = yield* word(input);
  const fields = yield* readFields(input, 0);
  return { type: first & 0xff, name, sequence, fields };
}

function* take(input: Input, count: number): Reading<Buffer> {
  while (input.length < count) yield;
  return input.take(count);
}

function* word(input: Input): Reading<number> {
  return (yield* take(input, 4)).readInt32BE();
}

function* size(input: Input): Reading<number> {
  const length = yield* word(input);
  if (length < 0 || length > maxLength) throw broken(`its answer has a part of ${length} bytes or items`);
  return length;
}

function* bytes(input: Input): Reading<Buffer> {
  // A copy: what is kept must not hold on to everything that came with it.
  return Buffer.from(yield* take(input, yield* size(input)));
}

function* readFields(input: Input, depth: number): Reading<ThriftFields> {
  if (depth > maxDepth) throw broken('its answer is nested too deeply');
  const fields = new Map<number, ThriftValue>();
  for (;;) {
    const code = (yield* take(input, 1)).readUInt8();
    if (code === 0) return fields;
    const id = (yield* take(input, 2)).readInt16BE();
    fields.set(id, yield* readValue(input, typeOf(code), depth));
  }
}

function* readType(input: Input): Reading<ThriftType | undefined> {
  return typesByCode.get((yield* take(input, 1)).readUInt8());
}

function* readValue(input: Input, type: ThriftType, depth: number): Reading<ThriftValue> {
  if (depth > maxDepth) throw broken('its answer is nested too deeply');
  switch (type) {
    case 'bool':
      return { type, value: (yield* take(input, 1)).readUInt8() !== 0 };
    case 'byte':
      return { type, value: (yield* take(input, 1)).readInt8() };
    case 'i16':
      return { type, value: (yield* take(input, 2)).readInt16BE() };
    case 'i32':
      return { type, value: yield* word(input) };
    case 'i64':
      return { type, value: (yield* take(input, 8)).readBigInt64BE() };
    case 'double':
      return { type, value: (yield* take(input, 8)).readDoubleBE() };
    case 'string':
      return { type, value: yield* bytes(input) };
    case 'struct':
      return { type, fields: yield* readFields(input, depth + 1) };
    case 'list':
    case 'set': {
      const item = yield* readType(input);
      const count = yield* size(input);
      const items: ThriftValue[] = [];
      while (items.length < count) items.push(yield* readValue(input, known(item), depth + 1));
      return { type, item: item ?? 'string', items };
    }
    case 'map': {
      const key = yield* readType(input);
      const item = yield* readType(input);
      const count = yield* size(input);
      const entries: [ThriftValue, ThriftValue][] = [];
      while (entries.length < count) {
        const name = yield* readValue(input, known(key), depth + 1);
        entries.push([name, yield* readValue(input, known(item), depth + 1)]);
      }
      // Writers may leave the types of an empty map out.
      return { type, key: key ?? 'string', item: item ?? 'string', entries };
    }
  }
}

function typeOf(code: number): ThriftType {
  return known(typesByCode.get(code));
}

function known(type: ThriftType | undefined): ThriftType {
  if (type === undefined) throw broken('its answer holds a type that Thrift does not have');
  return type;
}

function broken(what: string): MetastoreError {
  return new MetastoreError('failed', `${what}: is this the address of a Hive metastore?`);
}
