import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What becomes of what passes between a driver and its server. */
export type TcpFate =
  | 'pass'
  /** Nobody listens. */
  | 'refuse'
  /** The connection ends when something is asked, before the server hears of it. */
  | 'drop'
  /** The server has done what it was asked to; only its answer is lost. */
  | 'lose answer'
  /** The answer ends in the middle. */
  | 'cut answer'
  /** What is asked and answered is swallowed. */
  | 'silence'
  /** Every answer comes late. */
  | 'slow';

const lateMs = 250;

/** Stands between a driver and its server, on the level of connections: the protocol does not matter to it. */
export class TcpFaultProxy {
  readonly port: number;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #fate: TcpFate = 'pass';

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = { host: target.hostname, port: Number(target.port) };
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => this.#join(client));
  }

  static async before(target: string): Promise<TcpFaultProxy> {
    return new TcpFaultProxy(await listening(0), new URL(target));
  }

  /** The address of the server with this in its place. */
  inFrontOf(address: string): string {
    const url = new URL(address);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  /** From now on; connections that are open share it. */
  async become(fate: TcpFate): Promise<void> {
    this.#fate = fate;
    if (fate === 'refuse') await this.close();
    else if (this.#server === undefined) {
      this.#server = await listening(this.port);
      this.#server.on('connection', (client) => this.#join(client));
    }
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    if (server === undefined) return;
    server.close();
    await once(server, 'close');
  }

  #join(client: Socket): void {
    const upstream = connect(this.#target);
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    client.on('close', end);
    upstream.on('close', end);
    client.on('data', (asked) => {
      if (this.#fate === 'drop') end();
      else if (this.#fate !== 'silence') upstream.write(asked);
    });
    upstream.on('data', (answer: Buffer) => {
      switch (this.#fate) {
        case 'lose answer':
          return end();
        case 'cut answer':
          return void client.write(answer.subarray(0, Math.floor(answer.length / 2)), end);
        case 'slow':
          return void setTimeout(() => client.write(answer), lateMs);
        case 'silence':
          return;
        default:
          client.write(answer);
      }
    });
  }
}

async function listening(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
