import { connect, type Socket } from 'node:net';

export interface LoadRequest {
  readonly method: string;
  /** Raw request target. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

export interface LoadOptions {
  readonly endpoint: URL;
  readonly connections: number;
  readonly seconds: number;
  readonly next: (sequence: number) => LoadRequest;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly requests: number;
  readonly errors: number;
  readonly p50: number;
  readonly p99: number;
  readonly megabytesPerSecond: number;
}

/**
 * A closed loop of keep-alive connections, each with one request under way. Answers are counted, not kept: the
 * driver shares the machine with the server and must cost little.
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  let errors = 0;
  let bytes = 0;
  let sequence = 0;
  const started = performance.now();
  const deadline = started + options.seconds * 1000;

  await Promise.all(
    Array.from({ length: options.connections }, async () => {
      const connection = await Connection.open(options.endpoint);
      try {
        while (performance.now() < deadline) {
          const began = performance.now();
          const answer = await connection.send(options.next(sequence++));
          latencies.push(performance.now() - began);
          bytes += answer.bytes;
          if (answer.status >= 400) errors += 1;
        }
      } finally {
        connection.close();
      }
    }),
  );

  const seconds = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN;
  return {
    perSecond: latencies.length / seconds,
    requests: latencies.length,
    errors,
    p50: at(0.5),
    p99: at(0.99),
    megabytesPerSecond: bytes / 1e6 / seconds,
  };
}

interface Answer {
  readonly status: number;
  readonly bytes: number;
}

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');

/** One HTTP/1.1 connection that reads only what it must: status and length. */
class Connection {
  readonly #socket: Socket;
  readonly #host: string;
  #head: Buffer = Buffer.alloc(0);
  #status = 0;
  #left = -1;
  #chunked = false;
  #bytes = 0;
  #done: ((answer: Answer) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.on('data', (chunk: Buffer) => {
      this.#receive(chunk);
    });
    const fail = (error: Error): void => this.#failed?.(error);
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the server closed the connection')));
  }

  static open(endpoint: URL): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: endpoint.hostname, port: Number(endpoint.port), noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket, endpoint.host));
      });
    });
  }

  send(request: LoadRequest): Promise<Answer> {
    const body = request.body ?? '';
    let head = `${request.method} ${request.target} HTTP/1.1\r\nhost: ${this.#host}\r\n`;
    for (const [name, value] of Object.entries(request.headers ?? {})) head += `${name}: ${value}\r\n`;
    const length = Buffer.byteLength(body);
    if (length > 0 || request.method !== 'GET') head += `content-length: ${length}\r\n`;
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      if (typeof body === 'string') this.#socket.write(`${head}\r\n${body}`);
      else {
        this.#socket.cork();
        this.#socket.write(`${head}\r\n`);
        this.#socket.write(body);
        this.#socket.uncork();
      }
    });
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#left >= 0) {
      this.#take(chunk);
      return;
    }
    this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf(headEnd);
    if (end < 0) return;
    const head = this.#head.toString('latin1', 0, end).toLowerCase();
    const rest = this.#head.subarray(end + 4);
    this.#head = Buffer.alloc(0);
    this.#status = Number(head.slice(9, 12));
    this.#chunked = head.includes('transfer-encoding: chunked');
    const length = /content-length: (\d+)/.exec(head)?.[1];
    this.#left = this.#chunked ? 1 : Number(length ?? 0);
    this.#take(rest);
  }

  #take(chunk: Buffer): void {
    if (this.#chunked) {
      if (chunk.length >= 5 && chunk.subarray(-5).equals(lastChunk)) this.#left = 0;
    } else this.#left -= chunk.length;
    if (this.#left > 0) return;
    const answer = { status: this.#status, bytes: this.#bytes };
    this.#left = -1;
    this.#bytes = 0;
    this.#done?.(answer);
  }
}
