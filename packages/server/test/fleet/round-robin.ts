import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

const lookMs = 500;
const patienceMs = 1500;

/** Passes connections on to servers in turn, and leaves out those that do not answer, as load balancers do. */
export class RoundRobin {
  readonly #backends = new Map<string, Set<Socket>>();
  readonly #down = new Set<string>();
  readonly #server = createServer((client) => this.#pass(client));
  readonly #timer = setInterval(() => void this.#look(), lookMs);
  #turn = 0;

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  add(url: string): void {
    this.#backends.set(url, new Set());
  }

  remove(url: string): void {
    this.#takeOut(url);
    this.#backends.delete(url);
    this.#down.delete(url);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const url of this.#backends.keys()) this.#takeOut(url);
    this.#server.close();
  }

  #pass(client: Socket): void {
    const up = [...this.#backends.keys()].filter((url) => !this.#down.has(url));
    const url = up[this.#turn++ % Math.max(1, up.length)];
    client.on('error', () => undefined);
    if (url === undefined) {
      client.destroy();
      return;
    }
    const backend = connect(Number(new URL(url).port), '127.0.0.1');
    const sockets = this.#backends.get(url);
    sockets?.add(client);
    backend.on('error', () => client.destroy());
    for (const [from, to] of [
      [client, backend],
      [backend, client],
    ] as const) {
      from.pipe(to);
      from.on('close', () => to.destroy());
    }
    client.on('close', () => sockets?.delete(client));
  }

  #takeOut(url: string): void {
    for (const socket of this.#backends.get(url) ?? []) socket.destroy();
  }

  async #look(): Promise<void> {
    await Promise.all(
      [...this.#backends.keys()].map(async (url) => {
        const isUp = await fetch(`${url}/_health`, {
          signal: AbortSignal.timeout(patienceMs),
          headers: { connection: 'close' },
        }).then(
          (answer) => answer.ok,
          () => false,
        );
        if (isUp) this.#down.delete(url);
        else if (this.#backends.has(url) && !this.#down.has(url)) {
          this.#down.add(url);
          this.#takeOut(url);
        }
      }),
    );
  }
}
