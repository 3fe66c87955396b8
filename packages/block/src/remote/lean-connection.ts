import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { readChunked, readHead } from '@svc/encoding';
import type { ObjectBody } from '../adapter.ts';
import { bytesBody, smallObjectSize } from '../body.ts';
import { LeanBody } from './lean-body.ts';

/** Small enough to stay in the processor's cache between reading and writing. */
const unit = 128 * 1024;
/** One that is read into, one that is written from, and one in between. */
const unitsPerReader = 3;
const headLimit = 32 * 1024;
const lastChunk = Buffer.from('0\r\n\r\n');
const plainValue = /^[\t -~\u0080-\u00ff]*$/;

export interface LeanRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT';
  readonly origin: string;
  readonly path: string;
  /** With the length of the body, when there is one. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LeanAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** What a refusal says is always in memory. */
  readonly body: ObjectBody;
}

/** What reads from the connection at the moment. */
interface Listener {
  /** False when it wants no more for now. The bytes are overwritten by what comes next. */
  take(bytes: Buffer): boolean;
  /** The connection has ended, in whatever way. */
  fail(error: Error): void;
}

export class LeanConnection {
  readonly #socket: Socket;
  readonly #timeoutMs: number;
  #listener: Listener | undefined;
  #onGone: (() => void) | undefined;
  #spare: Buffer[] = Array.from({ length: unitsPerReader - 1 }, () => Buffer.allocUnsafeSlow(unit));
  #reading: Buffer = Buffer.allocUnsafeSlow(unit);
  #paused = false;
  /** Of what came after the first bytes of an answer, and since when more is waited for (0: it is not). */
  #readBytes = 0;
  #waitedMs = 0;
  #waitsSince = 0;

  constructor(origin: string, options: { readonly timeoutMs: number; readonly rejectUnauthorized: boolean }) {
    const { protocol, hostname, port } = new URL(origin);
    this.#timeoutMs = options.timeoutMs;
    const host = hostname.replace(/^\[|\]$/g, '');
    const onread = {
      buffer: () => this.#reading,
      callback: (count: number, buffer: Uint8Array) => this.#read(buffer as Buffer, count),
    };
    this.#socket =
      protocol === 'https:'
        ? connectTls({
            host,
            port: Number(port || 443),
            // An address is no name that TLS could ask for.
            ...(isIP(host) === 0 ? { servername: host } : {}),
            rejectUnauthorized: options.rejectUnauthorized,
            onread,
          } as ConnectionOptions)
        : connectPlain({ host, port: Number(port || 80), onread });
    this.#socket.setNoDelay(true);
    this.#socket.on('error', (error) => this.#end(error));
    this.#socket.on('end', () => this.#end(new Error('the store closed the connection')));
    this.#socket.on('close', () => this.#end(new Error('the connection was closed')));
    this.#socket.on('timeout', () => {
      // A reader that takes its time is not the store's silence.
      if (!this.#paused) this.#end(new Error(`the store sent nothing for ${this.#timeoutMs} ms`));
    });
  }

  /**
   * Calls `done` once nothing more will be read of the answer. Undefined: none came, or not the whole of it; strange: it
   * was none that this class understands.
   */
  send(request: LeanRequest, done: (reusable: boolean) => void): Promise<LeanAnswer | 'strange' | undefined> {
    return new Promise((resolve) => {
      const { method, signal } = request;
      const onAbort = (): void => this.#end(new Error('aborted'));
      const finish = (reusable: boolean): void => {
        signal?.removeEventListener('abort', onAbort);
        this.#listener = undefined;
        done(reusable);
      };
      const giveUp = (): false => {
        finish(false);
        resolve('strange');
        return false;
      };
      let received = Buffer.alloc(0);
      this.#listener = {
        take: (bytes) => {
          received = Buffer.concat([received, bytes]);
          const end = received.indexOf('\r\n\r\n');
          if (end < 0) return received.length < headLimit || giveUp();
          const head = readHead(received.subarray(0, end).toString('latin1'), method);
          const rest = received.subarray(end + 4);
          if (head === undefined) return giveUp();
          const { status, size, headers, keepsAlive } = head;
          const answer = { status, header: (name: string) => headers.get(name) };
          // A refusal may come before the whole body was taken.
          const isReusable = keepsAlive && (request.body === undefined || status < 300);
          if (size === undefined) {
            // An object has a size.
            if (status < 300 && method !== 'PUT') return giveUp();
            const content = readChunked(rest);
            if (content === undefined) return rest.length < smallObjectSize || giveUp();
            finish(isReusable && rest.subarray(-lastChunk.length).equals(lastChunk));
            resolve({ ...answer, body: bytesBody(content) });
            return true;
          }
          if (rest.length > size || (size > smallObjectSize && (status >= 300 || method === 'PUT')))
            return giveUp();
          const body = new LeanBody(this, size, rest, (whole) => finish(whole && isReusable));
          if (size > smallObjectSize) {
            resolve({ ...answer, body });
            return false;
          }
          body.collect().then(
            (all) => resolve({ ...answer, body: bytesBody(all) }),
            () => resolve(undefined),
          );
          return true;
        },
        fail: () => {
          finish(false);
          resolve(undefined);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#onGone = undefined;
      this.#socket.setTimeout(this.#timeoutMs);
      this.#write(request);
      this.resume();
    });
  }

  #write(request: LeanRequest): void {
    const head = headText(request);
    if (request.body === undefined) {
      this.#socket.write(head, 'latin1');
      return;
    }
    // Both in one call of the system.
    this.#socket.cork();
    this.#socket.write(head, 'latin1');
    this.#socket.write(request.body);
    this.#socket.uncork();
  }

  listen(listener: Listener): void {
    this.#listener = listener;
  }

  resume(): void {
    if (this.#paused && this.#readBytes > 0) this.#waitsSince = performance.now();
    this.#paused = false;
    this.#socket.resume();
  }

  /** What was read of the last answer behind its first bytes, and how long its reader waited for that. */
  takeRead(): { readonly bytes: number; readonly waitedMs: number } {
    const read = { bytes: this.#readBytes, waitedMs: this.#waitedMs };
    this.#readBytes = 0;
    this.#waitedMs = 0;
    this.#waitsSince = 0;
    return read;
  }

  /** Until the next request, at most so long. */
  rest(ms: number, gone: () => void): void {
    this.#onGone = gone;
    this.#paused = false;
    this.#socket.setTimeout(ms);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** The buffer of the bytes that `take` has just been given: it is theirs until `giveBack`. */
  keepTaken(): Buffer | undefined {
    const next = this.#spare.pop();
    if (next === undefined) return undefined;
    const taken = this.#reading;
    this.#reading = next;
    return taken;
  }

  giveBack(buffer: Buffer): void {
    this.#spare.push(buffer);
  }

  get hasSpare(): boolean {
    return this.#spare.length > 0;
  }

  #read(buffer: Buffer, count: number): boolean {
    if (this.#listener === undefined) {
      // Nobody asked for anything.
      this.#end(new Error('the store sent what nobody asked for'));
      return false;
    }
    if (this.#waitsSince > 0) {
      this.#waitedMs += performance.now() - this.#waitsSince;
      this.#readBytes += count;
    }
    const goesOn = this.#listener.take(buffer.subarray(0, count));
    this.#paused = !goesOn;
    // More of the same answer: the first bytes of one are waited for however fast the store is.
    this.#waitsSince = goesOn && this.#listener !== undefined ? performance.now() : 0;
    return goesOn;
  }

  #end(error: Error): void {
    this.#socket.destroy();
    this.#onGone?.();
    this.#onGone = undefined;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.fail(error);
  }
}

/** Whether the headers can be written as they are. */
export function isPlain({ headers }: LeanRequest): boolean {
  for (const name in headers) if (!plainValue.test(headers[name] ?? '')) return false;
  return true;
}

function headText({ method, path, headers }: LeanRequest): string {
  let text = `${method} ${path} HTTP/1.1\r\n`;
  for (const [name, value] of Object.entries(headers)) text += `${name}: ${value}\r\n`;
  return `${text}\r\n`;
}
