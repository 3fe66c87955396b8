import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface CuttingProxy {
  /** The server's connection string with the proxy in its place. */
  readonly connectionString: string;
  /** What clients sent, piece by piece as it arrived. */
  readonly sent: Buffer[];
  /** Lets the next request through and closes the connection instead of passing the answer on. */
  cutNextAnswer(): void;
  close(): Promise<void>;
}

/** Stands between a client and its server to lose an answer at will. */
export async function cuttingProxy(server: URL): Promise<CuttingProxy> {
  let cut = false;
  const sent: Buffer[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (piece: Buffer) => sent.push(piece));
    client.pipe(upstream);
    upstream.on('data', (answer: Buffer) => {
      if (!cut) {
        client.write(answer);
        return;
      }
      cut = false;
      client.destroy();
      upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = new URL(server);
  address.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    connectionString: address.href,
    sent,
    cutNextAnswer: () => {
      cut = true;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
