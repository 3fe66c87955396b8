import { createServer, type Server } from 'node:http';
import { startDynamoDb } from './servers/dynamodb.ts';
import { startAzurite } from './servers/azurite.ts';
import { startFakeGcs } from './servers/fake-gcs.ts';
import { startMoto } from './servers/moto.ts';
import { startPostgres } from './servers/postgres.ts';
import type { RunningServer } from './servers/running-server.ts';
import { startVersitygw } from './servers/versitygw.ts';
import { UnavailableError } from './unavailable-error.ts';

const starters: Record<string, () => Promise<RunningServer>> = {
  postgres: () => startPostgres(),
  versitygw: startVersitygw,
  moto: startMoto,
  dynamodb: () => startDynamoDb(),
  azurite: () => startAzurite(),
  'fake-gcs': startFakeGcs,
};

/**
 * Owns the real servers of one test run: starts each on first request, shares it between all test processes and
 * stops everything at the end. Test processes talk to it over loopback HTTP (`testServer`).
 */
export class ServerHost {
  readonly #running = new Map<string, Promise<RunningServer>>();
  readonly #http: Server;

  constructor() {
    this.#http = createServer((request, response) => {
      const [, name = '', action = ''] = (request.url ?? '').split('/');
      this.#perform(name, action).then(
        (answer) => {
          response.end(JSON.stringify(answer));
        },
        (error: unknown) => {
          response.statusCode = error instanceof UnavailableError ? 404 : 500;
          response.end(JSON.stringify({ message: error instanceof Error ? error.message : String(error) }));
        },
      );
    });
    // Starting a server may take minutes the first time; nothing here may time out before that.
    this.#http.requestTimeout = 0;
    this.#http.timeout = 0;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#http.listen(0, '127.0.0.1', resolve);
    });
    const address = this.#http.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP listener has an address');
    this.#http.unref();
    return `http://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections();
    this.#http.close();
    await Promise.allSettled([...this.#running.values()].map(async (server) => (await server).dispose()));
  }

  async #perform(name: string, action: string): Promise<Readonly<Record<string, string>>> {
    const starter = starters[name];
    if (starter === undefined) throw new Error(`there is no test server "${name}"`);
    let running = this.#running.get(name);
    if (running === undefined) {
      running = starter();
      this.#running.set(name, running);
      running.catch(() => this.#running.delete(name));
    }
    const server = await running;
    if (action === 'stop') await server.stop();
    if (action === 'start') await server.start();
    return server.address;
  }
}
