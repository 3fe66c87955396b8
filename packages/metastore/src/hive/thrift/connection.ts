import { connect, type Socket } from 'node:net';
import { MetastoreError } from '../../metastore-error.ts';
import { decodeMessage, Input } from './decode.ts';
import { encodeMessage, type ThriftMessage } from './encode.ts';
import { messageTypes, numberIn, textIn, type ThriftFields } from './values.ts';

export interface HiveAddress {
  readonly host: string;
  readonly port: number;
  /** Messages with their length in front, as metastores with framed transport want them. */
  readonly framed: boolean;
}

const connectTimeoutMs = 10_000;
/** A metastore looks into the object store for each partition it is given. */
const answerTimeoutMs = 600_000;
const unknownMethod = 1;
const defaultPort = 9083;

/** `host:port`, `thrift://host:port`, or `thrift+framed://host:port`. */
export function parseHiveAddress(text: string): HiveAddress {
  const match = /^(?:(thrift|thrift\+framed):\/\/)?(\[[0-9a-fA-F:]+\]|[^\s:/[\]]+)(?::(\d{1,5}))?\/?$/.exec(
    text,
  );
  const port = Number(match?.[3] ?? defaultPort);
  if (match === null || port < 1 || port > 65_535) {
    throw new MetastoreError(
      'invalid',
      `"${text}" is not the address of a Hive metastore: expected host:port`,
    );
  }
  const host = (match[2] ?? '').replace(/^\[(.*)\]$/, '$1');
  return { host, port, framed: match[1] === 'thrift+framed' };
}

/** The metastore does not have the method: it is older or newer than what was tried. */
export class UnknownMethodError extends MetastoreError {}

/** One connection, one call at a time. It is made when first needed. */
export class ThriftConnection {
  readonly label: string;
  readonly #address: HiveAddress;
  #socket: Socket | undefined;
  #sequence = 0;

  constructor(address: HiveAddress) {
    this.#address = address;
    this.label = `the Hive metastore at ${address.host}:${address.port}`;
  }

  /** The fields of the answer: 0 is the result, the others are declared exceptions. */
  async call(method: string, fields: ThriftFields): Promise<ThriftFields> {
    const socket = (this.#socket ??= await this.#connect());
    this.#sequence += 1;
    const message = { type: messageTypes.call, name: method, sequence: this.#sequence, fields };
    let answer: ThriftMessage;
    try {
      answer = await this.#exchange(socket, encodeMessage(message), method);
    } catch (error) {
      this.close();
      if (error instanceof MetastoreError)
        throw new MetastoreError(error.kind, `${this.label}: ${error.message}`);
      throw error;
    }
    if (answer.type === messageTypes.exception) {
      const said = textIn(answer.fields, 1) ?? 'no reason given';
      const text = `${this.label} refused ${method}: ${said}`;
      if (numberIn(answer.fields, 2) === unknownMethod) throw new UnknownMethodError('failed', text);
      throw new MetastoreError('failed', text);
    }
    if (answer.sequence !== this.#sequence || answer.name !== method) {
      this.close();
      throw new MetastoreError('failed', `${this.label} answered ${answer.name} when asked ${method}`);
    }
    return answer.fields;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #connect(): Promise<Socket> {
    const { host, port } = this.#address;
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true });
      const fail = (reason: string): void => {
        socket.destroy();
        reject(
          new MetastoreError(
            'unavailable',
            `cannot connect to ${this.label}: ${reason}; check the address (metastore.hive.uri)`,
          ),
        );
      };
      socket.setTimeout(connectTimeoutMs, () => {
        fail('no answer');
      });
      socket.once('error', (error) => {
        fail(error.message);
      });
      socket.once('connect', () => {
        socket.setTimeout(0);
        socket.removeAllListeners();
        resolve(socket);
      });
    });
  }

  #exchange(socket: Socket, request: Buffer, method: string): Promise<ThriftMessage> {
    const { framed } = this.#address;
    const input = new Input();
    const reading = decodeAnswer(input, framed);
    return new Promise<ThriftMessage>((resolve, reject) => {
      const advance = (): void => {
        try {
          const step = reading.next();
          if (step.done === true) resolve(step.value);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const gone = (reason: string): void => {
        reject(
          new MetastoreError(
            'unavailable',
            `${reason} during ${method}: it may or may not have been carried out`,
          ),
        );
      };
      socket.on('data', (bytes: Buffer) => {
        input.append(bytes);
        advance();
      });
      socket.once('error', (error) => {
        gone(error.message);
      });
      socket.once('close', () => {
        gone('the connection was closed');
      });
      socket.setTimeout(answerTimeoutMs, () => {
        gone('no answer came');
      });
      socket.write(framed ? frameOf(request) : request);
      advance();
    }).finally(() => {
      socket.setTimeout(0);
      socket.removeAllListeners();
      // Without a listener an error would end the program; the next call sees that the socket is gone.
      socket.on('error', () => undefined);
    });
  }
}

function frameOf(message: Buffer): Buffer {
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(message.length);
  return Buffer.concat([length, message]);
}

function* decodeAnswer(input: Input, framed: boolean): Generator<undefined, ThriftMessage, undefined> {
  if (framed) {
    while (input.length < 4) yield;
    input.take(4);
  }
  return yield* decodeMessage(input);
}
