import { checkServerIdentity } from 'node:tls';
import { Pool, type Client, type ClientConfig, type PoolClient } from 'pg';
import { KvError } from '../../errors.ts';
import { BinaryClient } from './binary-client.ts';
import type { PostgresAddress, PostgresHost } from './connection-string.ts';

/** The servers of one cluster, the one that took a connection last in front. */
export class ClusterHosts {
  readonly #hosts: PostgresHost[];

  constructor({ host, port, others = [] }: PostgresAddress) {
    this.#hosts = [{ host, port }, ...others];
  }

  get count(): number {
    return this.#hosts.length;
  }

  get current(): PostgresHost {
    return this.#hosts[0] ?? { host: undefined, port: undefined };
  }

  /** The next connection goes to another one; a second complaint about the same host changes nothing. */
  passOver(host: PostgresHost): void {
    if (host === this.#hosts[0]) this.#hosts.push(...this.#hosts.splice(0, 1));
  }
}

/** A server that does not answer, or takes no writes: nothing was sent to it. */
export class UnusableHost extends KvError {
  constructor({ host, port }: PostgresHost, reason: string, cause?: unknown) {
    super('unavailable', `postgres: ${host ?? 'localhost'}:${port ?? 5432}: ${reason}`, { cause });
  }
}

export function placeOf({ host, port }: PostgresHost): ClientConfig {
  return { ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
}

/** What pg leaves out of its declarations. */
interface WithConnection {
  readonly connection: NodeJS.EventEmitter;
}

interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

type Connected = ((error: Error) => void) | ((error: null, client: Client) => void);

/** Clients that connect to the cluster's current host and refuse a standby, whose data may be old. */
export function clusterClient(hosts: ClusterHosts): typeof Client {
  return class extends BinaryClient {
    readonly #host: PostgresHost;
    #isStandby = false;

    constructor(config?: ClientConfig) {
      const host = hosts.current;
      super({ ...config, ...placeOf(host), ...(config?.ssl && { ssl: named(config.ssl, host) }) });
      this.#host = host;
      // Servers since version 14 tell it with the greeting, and again when they are promoted.
      (this as unknown as WithConnection).connection.on('parameterStatus', (status: ParameterStatus) => {
        if (status.parameterName === 'in_hot_standby') this.#isStandby = status.parameterValue === 'on';
      });
    }

    override connect(): Promise<Client>;
    override connect(callback: Connected): void;
    override connect(callback?: Connected): Promise<Client> | undefined {
      if (callback === undefined) return this.#connect();
      const told = callback as (error: Error | null, client?: Client) => void;
      this.#connect().then(
        () => told(null, this),
        (error: unknown) => told(error as Error),
      );
      return undefined;
    }

    async #connect(): Promise<Client> {
      try {
        await super.connect();
      } catch (error) {
        // A refusal of the server itself says more than its address.
        if (/^(?!57P)[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? '')) throw error;
        hosts.passOver(this.#host);
        throw new UnusableHost(this.#host, (error as Error).message, error);
      }
      if (!this.#isStandby) return this;
      hosts.passOver(this.#host);
      await this.end();
      throw new UnusableHost(this.#host, 'it is a standby, which takes no writes');
    }
  };
}

/** Node.js would compare the certificate of a server that is named by its address with `localhost`. */
function named(ssl: NonNullable<ClientConfig['ssl']>, { host = 'localhost' }: PostgresHost): typeof ssl {
  if (typeof ssl !== 'object' || ssl.rejectUnauthorized === false || ssl.checkServerIdentity !== undefined) {
    return ssl;
  }
  return {
    ...ssl,
    // The pool hides it, so that nobody prints it.
    ...(ssl.key !== undefined && { key: ssl.key }),
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  };
}

type GotClient = (error: Error | undefined, client: PoolClient | undefined, done: () => void) => void;

/** A pool that looks at every host of the cluster before it gives up. */
export class ClusterPool extends Pool {
  readonly #tries: number;

  constructor(config: ConstructorParameters<typeof Pool>[0], tries: number) {
    super(config);
    this.#tries = tries;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: GotClient): void;
  override connect(callback?: GotClient): Promise<PoolClient> | undefined {
    if (callback === undefined) return super.connect();
    let left = this.#tries;
    const attempt = (): void =>
      super.connect((error, client, done) => {
        if (error instanceof UnusableHost && --left > 0) attempt();
        else callback(error, client, done);
      });
    attempt();
    return undefined;
  }
}
