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

export interface HiveConnecting {
  /** Opens the connection; by the system's resolver when absent. */
  readonly connect?: ((address: HiveAddress) => Promise<Socket>) | undefined;
  /**
   * Says nothing but a fixed greeting before the other side has answered in Thrift: names that others choose could be
   * commands to whatever else listens there.
   */
  readonly greets?: boolean | undefined;
  /** All answers together. */
  readonly maxReceivedBytes?: number | undefined;
}

const connectTimeoutMs = 10_000;
/** A metastore looks into the object store for each partition it is given. */
const answerTimeoutMs = 600_000;
const unknownMethod = 1;
const defaultPort = 9083;
/** Every service of Thrift's usual base has it; that it is unknown is an answer as good. */
const greeting = 'getName';

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
  readonly #options: HiveConnecting;
  #socket: Socket | undefined;
  #sequence = 0;
  #received = 0;

  constructor(address: HiveAddress, options: HiveConnecting = {}) {
    this.#address = address;
    this.#options = options;
    this.label = `the Hive metastore at ${address.host}:${address.port}`;
  }

  /** The fields of the answer: 0 is the result, the others are declared exceptions. */
  async call(method: string, fields: ThriftFields): Promise<ThriftFields> {
    const socket = this.#socket ?? (await this.#open());
    this.#sequence += 1;
    const answer = await this.#ask(socket, method, fields);
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

  async #open(): Promise<Socket> {
    this.#socket = await this.#connect();
    if (this.#options.greets === true) await this.#ask(this.#socket, greeting, new Map());
    return this.#socket;
  }

  async #ask(socket: Socket, name: string, fields: ThriftFields): Promise<ThriftMessage> {
    const message = { type: messageTypes.call, name, sequence: this.#sequence, fields };
    try {
      return await this.#exchange(socket, encodeMessage(message), name);
    } catch (error) {
      this.close();
      if (error instanceof MetastoreError)
        throw new MetastoreError(error.kind, `${this.label}: ${error.message}`);
      throw error;
    }
  }

  async #connect(): Promise<Socket> {
    const given = this.#options.connect;
    const hint = given === undefined ? '; check the address (metastore.hive.uri)' : '';
    const unavailable = (reason: string): MetastoreError =>
      new MetastoreError('unavailable', `cannot connect to ${this.label}: ${reason}${hint}`);
    let socket: Socket;
    try {
      socket = await (given ?? connectDirectly)(this.#address);
    } catch (error) {
      throw unavailable(error instanceof Error ? error.message : String(error));
    }
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void => {
        socket.destroy();
        reject(unavailable(reason));
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
    const { maxReceivedBytes = Infinity } = this.#options;
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
        this.#received += bytes.length;
        if (this.#received > maxReceivedBytes) {
          reject(new MetastoreError('failed', `it sent more than ${maxReceivedBytes} bytes`));
          return;
        }
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

function connectDirectly({ host, port }: HiveAddress): Promise<Socket> {
  return Promise.resolve(connect({ host, port, noDelay: true }));
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
