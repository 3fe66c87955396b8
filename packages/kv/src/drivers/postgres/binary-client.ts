import { Client, type ClientConfig } from 'pg';
import { Parser } from 'pg-protocol/dist/parser.js';
import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';

interface Message {
  readonly name: string;
}

/** Members of pg that its type declarations leave out. */
interface PacketParser {
  parse(chunk: Buffer, callback: (message: Message) => void): void;
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message;
}
interface PgConnection extends EventEmitter {
  _emitMessage: boolean;
  attachListeners(stream: Readable): void;
}

const dataRow = 0x44;

/**
 * A pg client whose rows are bytes. pg can ask the server for binary results but then decodes each field as UTF-8,
 * which destroys bytes that are not text; here the fields of a row are cut out of one copy of its message.
 */
export class BinaryClient extends Client {
  constructor(config?: ClientConfig | string) {
    super(config);
    // What is under way fails with the connection, and a pool replaces it. But between connecting, resting and working
    // there are moments in which nobody else listens, and an error that nobody hears of ends the process.
    this.on('error', () => undefined);
    const { connection } = this as unknown as { connection: PgConnection };
    connection.attachListeners = (stream) => {
      const parser = new Parser() as unknown as PacketParser;
      const handlePacket = parser.handlePacket.bind(parser);
      parser.handlePacket = (offset, code, length, bytes) =>
        code === dataRow ? readRow(bytes, offset, length) : handlePacket(offset, code, length, bytes);
      stream.on('data', (chunk: Buffer) => {
        parser.parse(chunk, (message) => {
          connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message);
        });
      });
    };
  }
}

/** The length counts itself (4 bytes), which lie before `offset`. */
function readRow(bytes: Buffer, offset: number, length: number): Message {
  const row = Buffer.allocUnsafe(length - 4);
  bytes.copy(row, 0, offset, offset + length - 4);
  const count = row.readInt16BE(0);
  const fields: (Buffer | null)[] = [];
  let position = 2;
  for (let index = 0; index < count; index++) {
    const size = row.readInt32BE(position);
    position += 4;
    if (size === -1) {
      fields.push(null);
    } else {
      fields.push(row.subarray(position, position + size));
      position += size;
    }
  }
  return { name: 'dataRow', length, fields } as Message;
}

/** Leaves every field as the bytes `readRow` made. */
export const bytesOnly = {
  getTypeParser: () => (field: Buffer) => field,
};
