import { connect, type Socket } from 'node:net';

/** Called when the request under way has its whole answer. */
export type Answered = (connection: Connection, status: number, bytes: number) => void;

const lineFeed = 10;
const colon = 58;
const lowerCase = 32;
const zero = 48;
const [letterC, letterL, letterT] = [99, 108, 116];
const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = '0\r\n\r\n';
/** Every read is used up before the next one, so all connections read into the same memory. */
const readBuffer = Buffer.allocUnsafeSlow(256 * 1024);

/**
 * One HTTP/1.1 connection with one request under way. It reads only what it must, status and length, and calls
 * back without a promise, closure or object per request: the driver shares the machine with the server.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #answered: Answered;
  #head: Buffer | undefined;
  #status = 0;
  #left = -1;
  #chunked = false;
  #tail = '';
  #bytes = 0;
  /** Of the request under way, for whoever sent it. */
  sentAt = 0;
  kind = 0;

  private constructor(endpoint: URL, answered: Answered, failed: (error: Error) => void) {
    this.#answered = answered;
    const callback = (length: number): boolean => {
      this.#receive(length);
      return true;
    };
    this.#socket = connect({
      host: endpoint.hostname,
      port: Number(endpoint.port),
      noDelay: true,
      onread: { buffer: readBuffer, callback },
    });
    this.#socket.on('error', failed);
    this.#socket.on('close', () => failed(new Error('the server closed the connection')));
  }

  static open(endpoint: URL, answered: Answered, failed: (error: Error) => void): Promise<Connection> {
    return new Promise((resolve, reject) => {
      let opened = false;
      const connection = new Connection(endpoint, answered, (error) => (opened ? failed : reject)(error));
      connection.#socket.once('connect', () => {
        opened = true;
        resolve(connection);
      });
    });
  }

  /** A whole request; in a string each character is one byte. */
  send(request: string | Buffer): void {
    if (typeof request === 'string') this.#socket.write(request, 'latin1');
    else this.#socket.write(request);
  }

  close(): void {
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }

  #receive(length: number): void {
    this.#bytes += length;
    if (this.#left >= 0) this.#take(readBuffer, 0, length);
    else if (this.#head === undefined) this.#readHead(readBuffer, length);
    else {
      const head = Buffer.concat([this.#head, readBuffer.subarray(0, length)]);
      this.#readHead(head, head.length);
    }
  }

  #readHead(data: Buffer, length: number): void {
    const end = data.indexOf(headEnd);
    if (end < 0 || end + headEnd.length > length) {
      this.#head = Buffer.from(data.subarray(0, length));
      return;
    }
    this.#head = undefined;
    this.#status = decimalAt(data, 9);
    this.#left = 0;
    this.#chunked = false;
    this.#tail = '';
    for (let at = data.indexOf(lineFeed); at < end; at = data.indexOf(lineFeed, at)) {
      at += 1;
      const first = (data[at] ?? 0) | lowerCase;
      // Of the names a server sends, only Content-Length and Transfer-Encoding have these letters and lengths.
      if (first === letterC && data[at + 14] === colon && ((data[at + 8] ?? 0) | lowerCase) === letterL) {
        this.#left = decimalAt(data, at + 16);
      } else if (first === letterT && data[at + 17] === colon) {
        this.#chunked = true;
        this.#left = 1;
      }
    }
    this.#take(data, end + headEnd.length, length);
  }

  #take(data: Buffer, from: number, to: number): void {
    if (this.#chunked) {
      const end = data.toString('latin1', Math.max(from, to - lastChunk.length), to);
      this.#tail = (this.#tail + end).slice(-lastChunk.length);
      if (this.#tail === lastChunk) this.#left = 0;
    } else this.#left -= to - from;
    if (this.#left > 0) return;
    const bytes = this.#bytes;
    this.#left = -1;
    this.#bytes = 0;
    this.#answered(this, this.#status, bytes);
  }
}

function decimalAt(data: Buffer, at: number): number {
  let value = 0;
  for (let digit = data[at] ?? 0; digit >= zero; digit = data[++at] ?? 0) value = value * 10 + digit - zero;
  return value;
}
