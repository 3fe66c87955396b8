import { Api } from '../driver/api.ts';
import type { Latencies } from '../driver/latencies.ts';
import { runLoad } from '../driver/http-load.ts';
import { startRemoteStores, type RemoteStores } from '../driver/remote-stores.ts';
import { setUp } from '../driver/set-up.ts';
import { startServer, type BenchServer } from '../driver/start-server.ts';
import { keyOf } from '../scenarios/bench.ts';
import { Requests } from '../scenarios/requests.ts';

export const repository = 'bench';

/** A server on fresh stores, which can be started again on the same ones. */
export class World {
  readonly #folder: string;
  readonly #dist: string;
  readonly #stores: RemoteStores | undefined;
  #server: BenchServer;

  private constructor(folder: string, dist: string, stores: RemoteStores | undefined, server: BenchServer) {
    this.#folder = folder;
    this.#dist = dist;
    this.#stores = stores;
    this.#server = server;
  }

  static async open(folder: string, dist: string, isRemote: boolean): Promise<World> {
    const stores = isRemote ? await startRemoteStores() : undefined;
    const server = await startServer(folder, folder, stores?.settings, dist);
    if (isRemote) await setUp(server);
    const world = new World(folder, dist, stores, server);
    const namespace = isRemote ? 's3://bench/tails' : 'local://tails';
    await world.api.call('POST', '/repositories', { name: repository, storage_namespace: namespace });
    return world;
  }

  get server(): BenchServer {
    return this.#server;
  }

  get api(): Api {
    return new Api(this.#server.endpoint, this.#server.credentials);
  }

  get requests(): Requests {
    const place = this.#stores === undefined ? `local://${this.#folder}` : 's3://elsewhere';
    return new Requests(this.api, repository, `${place}/object`);
  }

  /** Where objects to import can be put, and how an import names it. */
  importSource(): { readonly folder: string; readonly uri: string } {
    if (this.#stores === undefined)
      return { folder: `${this.#folder}/files`, uri: `local://${this.#folder}/files/` };
    return { folder: `${this.#stores.folder}/bench/files`, uri: 's3://bench/files/' };
  }

  async restart(): Promise<void> {
    await this.#server.stop();
    this.#server = await startServer(this.#folder, this.#folder, this.#stores?.settings, this.#dist);
  }

  /** Stages the first `count` keys on a branch, through the API. */
  async stage(branch: string, count: number): Promise<void> {
    const { requests } = this;
    const { endpoint } = this.#server;
    const next = (sequence: number): string => requests.stage(branch, keyOf(sequence));
    const { errors } = await runLoad({ endpoint, connections: 64, seconds: 3600, requests: count, next });
    if (errors > 0) throw new Error(`${errors} of ${count} entries were not staged`);
  }

  async commit(branch: string): Promise<void> {
    await this.api.call('POST', `/repositories/${repository}/branches/${branch}/commits`, { message: 'c' });
  }

  async close(): Promise<void> {
    await this.#server.stop();
    await this.#stores?.stop();
  }
}

/** One line of a table. */
export function row(name: string, { latencies, errors }: { latencies: Latencies; errors: number }): void {
  const ms = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
  const { count, max } = latencies;
  const [p50, p99] = [latencies.percentile(0.5), latencies.percentile(0.99)];
  console.log(`| ${name} | ${count} | ${ms(p50)} | ${ms(p99)} | ${ms(max)} | ${errors} |`);
}

export function tableHead(title: string): void {
  console.log(
    `\n| ${title} | Requests | p50, ms | p99, ms | longest, ms | Errors |\n|---|---|---|---|---|---|`,
  );
}
