import { connect, type Socket } from 'node:net';

/** One kept-alive HTTP/1.1 connection that sends prepared bytes and counts what comes back: little client CPU. */
export class GatewayConnection {
  readonly #socket: Socket;
  #head: Buffer = Buffer.alloc(0);
  #remaining = -1;
  #status = 0;
  #bodyless = false;
  #received = 0;
  #resolve: ((answer: { status: number; bytes: number }) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (data: Buffer) => this.#onData(data));
    const fail = (error?: Error): void =>
      this.#reject?.(error ?? new Error('the server closed the connection'));
    socket.on('error', fail).on('close', () => fail());
  }

  static open(host: string, port: number): Promise<GatewayConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, host, () => resolve(new GatewayConnection(socket)));
      socket.once('error', reject);
    });
  }

  send(
    head: Buffer,
    body: Buffer | undefined,
    bodyless: boolean,
  ): Promise<{ status: number; bytes: number }> {
    this.#bodyless = bodyless;
    this.#remaining = -1;
    this.#received = 0;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#socket.cork();
      this.#socket.write(head);
      if (body !== undefined) this.#socket.write(body);
      this.#socket.uncork();
    });
  }

  close(): void {
    this.#reject = undefined;
    this.#socket.destroy();
  }

  #onData(data: Buffer): void {
    let body = data;
    if (this.#remaining < 0) {
      this.#head = this.#head.length === 0 ? data : Buffer.concat([this.#head, data]);
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const text = this.#head.subarray(0, end).toString('latin1');
      this.#status = Number(text.slice(9, 12));
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      this.#remaining = this.#bodyless || this.#status === 204 ? 0 : length;
      body = this.#head.subarray(end + 4);
      this.#head = Buffer.alloc(0);
    }
    this.#remaining -= body.length;
    this.#received += body.length;
    if (this.#remaining <= 0) this.#resolve?.({ status: this.#status, bytes: this.#received });
  }
}
