import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import type { Id } from '../request/fields.ts';

/** Bytes as Avro writes them. */
export class AvroOutput {
  readonly #parts: Buffer[] = [];

  long(value: Id): this {
    const signed = BigInt(value);
    let rest = BigInt.asUintN(64, (signed << 1n) ^ (signed >> 63n));
    const bytes: number[] = [];
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    return this.raw(Buffer.from(bytes));
  }

  boolean(value: boolean): this {
    return this.raw(Buffer.from([value ? 1 : 0]));
  }

  bytes(value: Buffer | string): this {
    const bytes = Buffer.from(value);
    return this.long(bytes.length).raw(bytes);
  }

  /** A union of null and something. */
  optional<Value>(value: Value | undefined, write: (value: Value) => unknown): this {
    this.long(value === undefined ? 0 : 1);
    if (value !== undefined) write(value);
    return this;
  }

  array<Item>(items: readonly Item[], write: (item: Item) => unknown): this {
    if (items.length > 0) this.long(items.length);
    for (const item of items) write(item);
    return this.long(0);
  }

  raw(bytes: Buffer): this {
    this.#parts.push(bytes);
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** An Avro file of one block. */
export function writeAvro<Item>(
  schema: object,
  header: Readonly<Record<string, string>>,
  items: readonly Item[],
  write: (output: AvroOutput, item: Item) => void,
): Buffer {
  const sync = randomBytes(16);
  const block = new AvroOutput();
  for (const item of items) write(block, item);
  const file = new AvroOutput().raw(Buffer.from('Obj\u0001', 'latin1'));
  const entries = Object.entries({
    ...header,
    'avro.schema': JSON.stringify(schema),
    'avro.codec': 'deflate',
  });
  file.array(entries, ([name, value]) => file.bytes(name).bytes(value)).raw(sync);
  if (items.length > 0) file.long(items.length).bytes(deflateRawSync(block.finish())).raw(sync);
  return file.finish();
}
