import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import { readHead } from '@svc/encoding';
import { bytesBody, type AnswerBody } from './answer-body.ts';
import { ChunkedFrame, SizedFrame, type BodyFrame } from './body-frame.ts';

/** Bodies up to this size are in memory before they are handed over. */
const smallBody = 128 * 1024;
const headLimit = 64 * 1024;

export interface LeanRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

export interface LeanAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: AnswerBody;
}

/** What reads from the connection at the moment. */
interface Listener {
  /** False when it wants no more for now. */
  take(bytes: Buffer): boolean;
  fail(error: Error): void;
  /** Whether a head was read, and much may follow. */
  readonly isBody?: boolean;
}

/** All connections read into this: what is read is used up before anything else is. */
let shared: { readonly body: Buffer; readonly head: Buffer } | undefined;

function readBuffers(): NonNullable<typeof shared> {
  if (shared === undefined) {
    const body = Buffer.allocUnsafeSlow(256 * 1024);
    // What comes with the head of a large body is copied, so it should not be much.
    shared = { body, head: body.subarray(0, 16 * 1024) };
  }
  return shared;
}

/** A connection with one request under way. */
export class LeanConnection {
  readonly #socket: Socket;
  #listener: Listener | undefined;
  #onGone: (() => void) | undefined;
  #isOver = false;

  constructor(url: URL) {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const { body, head } = readBuffers();
    const onread = {
      buffer: () => (this.#listener?.isBody === true ? body : head),
      callback: (count: number) => this.#read(body.subarray(0, count)),
    };
    this.#socket =
      url.protocol === 'https:'
        ? // Loaded for the first secure address: TLS costs a process more than everything else it loads.
          process.getBuiltinModule('node:tls').connect({
            host,
            port: Number(url.port || 443),
            // An address is no name that TLS could ask for.
            ...(isIP(host) === 0 && { servername: host }),
            ALPNProtocols: ['http/1.1'],
            onread,
          } as ConnectionOptions)
        : connectPlain({ host, port: Number(url.port || 80), onread });
    this.#socket.setNoDelay(true);
    this.#socket.on('error', (error) => this.end(error));
    this.#socket.on('end', () => this.end(new Error('socket hang up')));
    this.#socket.on('close', () => this.end(new Error('socket hang up')));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Calls `done` once nothing more will be read of the answer. Fails when none comes; answers undefined when it is none
   * that this class understands.
   */
  send(request: LeanRequest, done: (reusable: boolean) => void): Promise<LeanAnswer | undefined> {
    return new Promise((resolve, reject) => {
      let received: Buffer = Buffer.alloc(0);
      const finish = (reusable: boolean): void => {
        this.#listener = undefined;
        done(reusable && !this.#isOver && this.#socket.writableLength === 0);
      };
      const giveUp = (): false => {
        finish(false);
        resolve(undefined);
        return false;
      };
      this.#listener = {
        take: (bytes) => {
          received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
          const end = received.indexOf('\r\n\r\n');
          if (end < 0) {
            if (received.length > headLimit) return giveUp();
            received = Buffer.from(received);
            return true;
          }
          const head = readHead(received.toString('latin1', 0, end), request.method);
          if (head === undefined) return giveUp();
          const { status, headers, size, keepsAlive } = head;
          const rest = received.subarray(end + 4);
          if (size !== undefined && rest.length > size) return giveUp();
          if (size !== undefined && size <= smallBody) {
            this.#collect(size, rest, (all, broken) => {
              finish(broken === undefined && keepsAlive);
              resolve({ status, headers, body: bytesBody(all, broken) });
            });
            return true;
          }
          const frame = size === undefined ? new ChunkedFrame() : new SizedFrame(size);
          const body = new LeanBody(this, this.#socket, frame, Buffer.from(rest), (whole) =>
            finish(whole && keepsAlive),
          );
          this.#listener = body;
          resolve({ status, headers, body });
          return false;
        },
        fail: (error) => {
          finish(false);
          reject(error);
        },
      };
      this.#onGone = undefined;
      this.#write(request);
      this.#socket.resume();
    });
  }

  /** All of a body in one buffer; or what came before the connection broke. */
  #collect(size: number, first: Buffer, then: (bytes: Buffer, broken?: Error) => void): void {
    const all = Buffer.allocUnsafe(size);
    let at = first.copy(all);
    if (at === size) {
      then(all);
      return;
    }
    this.#listener = {
      take: (bytes) => {
        if (at + bytes.length > size) {
          then(all.subarray(0, at), new Error('more came than was announced'));
          return false;
        }
        at += bytes.copy(all, at);
        if (at === size) then(all);
        return true;
      },
      fail: (error) => then(all.subarray(0, at), error),
      isBody: true,
    };
  }

  #write({ method, url, headers, body }: LeanRequest): void {
    let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`;
    for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
    head += '\r\n';
    if (body === undefined) {
      this.#socket.write(head, 'latin1');
      return;
    }
    // Both in one call of the system.
    this.#socket.cork();
    this.#socket.write(head, 'latin1');
    this.#socket.write(body);
    this.#socket.uncork();
  }

  /** Until the next request; it keeps no process alive. */
  rest(gone: () => void): void {
    this.#onGone = gone;
    this.#socket.resume();
    this.#socket.unref();
  }

  wake(): void {
    this.#socket.ref();
  }

  end(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.destroy();
    this.#onGone?.();
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.fail(error);
  }

  #read(bytes: Buffer): boolean {
    if (this.#listener !== undefined) return this.#listener.take(bytes);
    this.end(new Error('bytes came that nobody asked for'));
    return false;
  }
}

/** A large body, read from the connection as it is wanted. */
class LeanBody implements AnswerBody, Listener {
  readonly isBody = true;
  readonly #connection: LeanConnection;
  readonly #socket: Socket;
  readonly #frame: BodyFrame;
  readonly #release: (whole: boolean) => void;
  #first: Buffer;
  #isOver = false;
  #broken: Error | undefined;
  /** False when it wants no more for now. */
  #take: ((bytes: Buffer) => boolean) | undefined;
  #ended: ((error?: Error) => void) | undefined;

  constructor(
    connection: LeanConnection,
    socket: Socket,
    frame: BodyFrame,
    first: Buffer,
    release: (whole: boolean) => void,
  ) {
    this.#connection = connection;
    this.#socket = socket;
    this.#frame = frame;
    this.#first = first;
    this.#release = release;
  }

  take(bytes: Buffer): boolean {
    const take = this.#take;
    if (take === undefined) {
      // What was on its way when the head came.
      this.#first = Buffer.concat([this.#first, bytes]);
      return false;
    }
    let goesOn = true;
    try {
      const ended = this.#frame.feed(bytes, (piece) => {
        goesOn = take(piece);
      });
      if (ended) this.#finish(undefined);
    } catch (error) {
      this.fail(error as Error);
      return false;
    }
    return goesOn || this.#isOver;
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#broken = error;
    this.#connection.end(error);
    this.#finish(error);
  }

  #finish(error: Error | undefined): void {
    this.#isOver = true;
    this.#release(error === undefined);
    this.#ended?.(error);
  }

  forEach(take: (bytes: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#start(
        (bytes) => {
          take(bytes);
          return true;
        },
        (error) => (error === undefined ? resolve() : reject(error)),
      );
    });
  }

  stream(): Readable {
    const stream = new Readable({
      read: () => {
        if (!this.#isOver) this.#socket.resume();
      },
      destroy: (error, callback) => {
        this.discard();
        callback(error);
      },
    });
    this.#start(
      (bytes) => stream.push(Buffer.from(bytes)),
      (error) => (error === undefined ? stream.push(null) : stream.destroy(error)),
    );
    return stream;
  }

  discard(): void {
    this.fail(new Error('nobody reads it'));
  }

  #start(take: (bytes: Buffer) => boolean, ended: (error?: Error) => void): void {
    if (this.#broken !== undefined) {
      ended(this.#broken);
      return;
    }
    this.#take = take;
    this.#ended = ended;
    const first = this.#first;
    this.#first = Buffer.alloc(0);
    if (this.take(first) && !this.#isOver) this.#socket.resume();
  }
}
