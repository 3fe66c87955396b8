import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands between a server and its database, and can end the server before any of the things it asks for. */
export async function startKillingProxy(port: number) {
  const sockets = new Set<Socket>();
  let left = Infinity;
  let kill: () => void = () => undefined;
  const proxy = createServer((client) => {
    const database = connect(port, '127.0.0.1');
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk) => {
      left -= 1;
      if (left === 0) kill();
      // Of what is asked after that the database learns nothing.
      if (left > 0) database.write(chunk);
    });
    database.pipe(client);
    client.on('close', () => database.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    /** Calls `end` instead of passing on the request of this number, counted from now. */
    killBefore(request: number, end: () => void) {
      left = request;
      kill = end;
    },
    /** Whether it did. */
    hasKilled: () => left <= 0,
    calm() {
      left = Infinity;
    },
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
