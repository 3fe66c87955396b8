import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface CuttingProxy {
  /** The server's connection string with the proxy in its place. */
  readonly connectionString: string;
  /** What clients sent, piece by piece as it arrived. */
  readonly sent: Buffer[];
  /** Lets the next request through and closes the connection instead of passing the answer on. */
  cutNextAnswer(): void;
  /** The next client is told that it is ended in the same breath as it is let in. */
  endNextClient(): void;
  close(): Promise<void>;
}

const readyForQuery = Buffer.from('Z\0\0\0\x05I', 'latin1');
const endedFields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0';
const ended = Buffer.concat([
  Buffer.from('E'),
  Buffer.of(0, 0, 0, 4 + endedFields.length),
  Buffer.from(endedFields),
]);

/** Stands between a client and its server to lose an answer at will. */
export async function cuttingProxy(server: URL): Promise<CuttingProxy> {
  let cut = false;
  let endsNext = false;
  const sent: Buffer[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    let isEnding = endsNext;
    endsNext = false;
    client.on('data', (piece: Buffer) => sent.push(piece));
    client.pipe(upstream);
    upstream.on('data', (answer: Buffer) => {
      if (isEnding && answer.subarray(-readyForQuery.length).equals(readyForQuery)) {
        isEnding = false;
        client.end(Buffer.concat([answer, ended]));
        return;
      }
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
    endNextClient: () => {
      endsNext = true;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
