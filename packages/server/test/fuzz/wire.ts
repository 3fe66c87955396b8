import { connect, type Socket } from 'node:net';
import { AnswerReader, type WireAnswer } from './answer-reader.ts';
import { bytesOf, type FuzzRequest } from './fuzz-request.ts';

/** Callers move on from address to address; connections of those long left are ended. */
const mostAddresses = 20;

/** Far above what any answer takes. */
const limitMs = 20_000;

/** What became of a request; `answer` is undefined where the connection ended without one. */
export interface Exchange {
  readonly answer: WireAnswer | undefined;
  /** What the connection did wrong, in words. */
  readonly fault: string | undefined;
}

/** Connections that are kept and used again, so that an answer that is too long or too short is noticed. */
export class Wire {
  readonly #port: number;
  readonly #idle = new Map<string, Connection[]>();
  readonly #all = new Set<Connection>();

  constructor(port: number) {
    this.#port = port;
  }

  async exchange(request: FuzzRequest, localAddress: string): Promise<Exchange> {
    const idle = this.#idleOf(localAddress);
    const kept = request.framing === 'right' ? lastFresh(idle) : undefined;
    const connection = kept ?? (await Connection.open(this.#port, localAddress));
    this.#all.add(connection);
    const exchange = await connection.exchange(request);
    if (request.framing === 'right' && connection.isUsable) idle.push(connection);
    else {
      connection.destroy();
      this.#all.delete(connection);
    }
    return exchange;
  }

  #idleOf(localAddress: string): Connection[] {
    const known = this.#idle.get(localAddress);
    if (known !== undefined) return known;
    if (this.#idle.size >= mostAddresses) {
      for (const [oldest, connections] of this.#idle) {
        for (const connection of connections) connection.destroy();
        this.#idle.delete(oldest);
        break;
      }
    }
    const idle: Connection[] = [];
    this.#idle.set(localAddress, idle);
    return idle;
  }

  close(): void {
    for (const connection of this.#all) connection.destroy();
  }
}

/** A server may end a connection that nobody used for long. */
const freshMs = 60_000;

function lastFresh(idle: Connection[]): Connection | undefined {
  const last = idle.pop();
  if (last === undefined || performance.now() - last.usedAt < freshMs) return last;
  for (const old of [last, ...idle.splice(0)]) old.destroy();
  return undefined;
}

class Connection {
  readonly #socket: Socket;
  #reader: AnswerReader | undefined;
  #finish: (fault?: string) => void = () => undefined;
  #stray = 0;
  #open = true;
  #keptAlive = true;
  usedAt = performance.now();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data: Buffer) => this.#read(data));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#open = false;
      this.#finish(this.#reader?.ended());
    });
  }

  static open(port: number, localAddress: string): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new Connection(socket)));
    });
  }

  get isUsable(): boolean {
    return this.#open && this.#keptAlive && this.#stray === 0;
  }

  exchange(request: FuzzRequest): Promise<Exchange> {
    return new Promise((resolve) => {
      const reader = new AnswerReader(request.method);
      this.#reader = reader;
      const timer = setTimeout(() => this.#finish(`no answer within ${limitMs} ms`), limitMs);
      this.#finish = (fault) => {
        clearTimeout(timer);
        this.usedAt = performance.now();
        this.#finish = () => undefined;
        this.#reader = undefined;
        const { answer } = reader;
        if (answer?.closes === true || fault !== undefined) this.#keptAlive = false;
        const silent = answer === undefined && request.framing === 'right' ? 'no answer' : undefined;
        resolve({ answer, fault: fault ?? silent });
      };
      if (this.#stray > 0) {
        this.#finish(`${this.#stray} bytes came after the answer before this one`);
        return;
      }
      if (!this.#open) {
        this.#finish('the connection was closed although the answer before this one kept it');
        return;
      }
      if (request.framing === 'cut') this.#socket.end(bytesOf(request));
      else this.#socket.write(bytesOf(request));
    });
  }

  #read(data: Buffer): void {
    const reader = this.#reader;
    if (reader === undefined) {
      this.#stray += data.length;
      return;
    }
    try {
      this.#stray += reader.read(data);
      if (reader.answer !== undefined) this.#finish();
    } catch (error) {
      this.#finish((error as Error).message);
      this.destroy();
    }
  }

  destroy(): void {
    this.#open = false;
    this.#socket.destroy();
  }
}
