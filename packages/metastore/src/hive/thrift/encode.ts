import { protocolVersion, typeCodes, type ThriftFields, type ThriftValue } from './values.ts';

export interface ThriftMessage {
  readonly type: number;
  readonly name: string;
  readonly sequence: number;
  readonly fields: ThriftFields;
}

/** A message of the binary protocol in its strict form. */
export function encodeMessage(message: ThriftMessage): Buffer {
  const parts: Buffer[] = [];
  parts.push(word(((protocolVersion << 16) | message.type) >>> 0), ...bytes(Buffer.from(message.name)));
  parts.push(word(message.sequence));
  putFields(parts, message.fields);
  return Buffer.concat(parts);
}

function word(value: number): Buffer {
  const buffer = Buffer.allocUnsafe(4);
  buffer.writeUInt32BE(value >>> 0);
  return buffer;
}

function bytes(value: Buffer): [Buffer, Buffer] {
  return [word(value.length), value];
}

function putFields(parts: Buffer[], fields: ThriftFields): void {
  for (const [id, value] of fields) {
    const head = Buffer.allocUnsafe(3);
    head.writeUInt8(typeCodes[value.type]);
    head.writeInt16BE(id, 1);
    parts.push(head);
    putValue(parts, value);
  }
  parts.push(Buffer.of(0));
}

function putValue(parts: Buffer[], value: ThriftValue): void {
  switch (value.type) {
    case 'bool':
      parts.push(Buffer.of(value.value ? 1 : 0));
      return;
    case 'byte':
      parts.push(Buffer.of(value.value & 0xff));
      return;
    case 'i16': {
      const buffer = Buffer.allocUnsafe(2);
      buffer.writeInt16BE(value.value);
      parts.push(buffer);
      return;
    }
    case 'i32':
      parts.push(word(value.value));
      return;
    case 'i64': {
      const buffer = Buffer.allocUnsafe(8);
      buffer.writeBigInt64BE(value.value);
      parts.push(buffer);
      return;
    }
    case 'double': {
      const buffer = Buffer.allocUnsafe(8);
      buffer.writeDoubleBE(value.value);
      parts.push(buffer);
      return;
    }
    case 'string':
      parts.push(...bytes(value.value));
      return;
    case 'struct':
      putFields(parts, value.fields);
      return;
    case 'list':
    case 'set':
      parts.push(Buffer.of(typeCodes[value.item]), word(value.items.length));
      for (const item of value.items) putValue(parts, item);
      return;
    case 'map':
      parts.push(Buffer.of(typeCodes[value.key], typeCodes[value.item]), word(value.entries.length));
      for (const [key, item] of value.entries) {
        putValue(parts, key);
        putValue(parts, item);
      }
  }
}
