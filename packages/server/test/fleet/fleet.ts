import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { startPostgres, startVersitygw, tempDir, type RunningServer } from '@svc/testing';
import { quickstartKey, runSvc, startSvc, type RunningSvc } from '../start-server.ts';
import { RoundRobin } from './round-robin.ts';

export const setUpKeys = [
  '--access-key-id',
  quickstartKey.accessKeyId,
  '--secret-access-key',
  quickstartKey.secretAccessKey,
];

async function createBucket(s3: RunningServer, bucket: string): Promise<void> {
  const { endpoint = '', region = '', accessKeyId = '', secretAccessKey = '' } = s3.address;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
}

/** The variables of a server on these stores; all that share them have the same secrets. */
export function settingsFor(postgres: RunningServer, s3: RunningServer): Record<string, string> {
  const { endpoint = '', region = '', accessKeyId = '', secretAccessKey = '' } = s3.address;
  return {
    SVC_SERVER_WORKERS: '1',
    SVC_DATABASE_TYPE: 'postgres',
    SVC_DATABASE_POSTGRES_CONNECTION_STRING: postgres.address['connectionString'] ?? '',
    SVC_BLOCKSTORE_TYPE: 's3',
    SVC_BLOCKSTORE_S3_ENDPOINT: endpoint,
    SVC_BLOCKSTORE_S3_REGION: region,
    SVC_BLOCKSTORE_S3_FORCE_PATH_STYLE: 'true',
    SVC_BLOCKSTORE_S3_CREDENTIALS_ACCESS_KEY_ID: accessKeyId,
    SVC_BLOCKSTORE_S3_CREDENTIALS_SECRET_ACCESS_KEY: secretAccessKey,
    SVC_AUTH_ENCRYPT_SECRET_KEY: 'the same secret on all servers',
    SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'another secret, the same on all',
    SVC_AUTH_CACHE_TTL: '2s',
    SVC_AUTH_CACHE_JITTER: '1s',
  };
}

/** Several servers on one PostgreSQL and one S3 server, behind one address. */
export class Fleet {
  readonly url: string;
  readonly bucket: string;
  readonly postgres: RunningServer;
  readonly s3: RunningServer;
  readonly #env: Record<string, string>;
  readonly #proxy: RoundRobin;
  readonly #everyServer: RunningSvc[] = [];
  #servers: RunningSvc[] = [];

  private constructor(parts: {
    readonly url: string;
    readonly bucket: string;
    readonly postgres: RunningServer;
    readonly s3: RunningServer;
    readonly env: Record<string, string>;
    readonly proxy: RoundRobin;
  }) {
    this.url = parts.url;
    this.bucket = parts.bucket;
    this.postgres = parts.postgres;
    this.s3 = parts.s3;
    this.#env = parts.env;
    this.#proxy = parts.proxy;
  }

  /** Servers of this build, or of the one in a folder. */
  static async open(size: number, bundle?: string): Promise<Fleet> {
    const [postgres, s3] = await Promise.all([startPostgres(), startVersitygw()]);
    const bucket = `fleet-${randomUUID()}`;
    await createBucket(s3, bucket);
    const env = settingsFor(postgres, s3);
    const setUp = await runSvc(['setup', '--user-name', 'admin', ...setUpKeys], env);
    if (setUp.code !== 0) throw new Error(setUp.stderr);
    const proxy = new RoundRobin();
    const fleet = new Fleet({ url: await proxy.listen(), bucket, postgres, s3, env, proxy });
    await Promise.all(Array.from({ length: size }, () => fleet.add({}, bundle)));
    return fleet;
  }

  get servers(): readonly RunningSvc[] {
    return this.#servers;
  }

  async add(env: Record<string, string> = {}, bundle?: string): Promise<RunningSvc> {
    const server = await startSvc([], { ...this.#env, ...env }, tempDir(), bundle);
    this.#servers.push(server);
    this.#everyServer.push(server);
    this.#proxy.add(server.url);
    return server;
  }

  /** Ends a server with all its processes, as a machine that loses its power. */
  async kill(server: RunningSvc): Promise<void> {
    for (const pid of processesOf(server)) process.kill(pid, 'SIGKILL');
    await server.finished;
    this.#forget(server);
  }

  /** Ends a server as an operator does. */
  async stop(server: RunningSvc): Promise<void> {
    await server.stop();
    this.#forget(server);
  }

  /** Stops all processes of a server for a while; the answer lets it go on. */
  pause(server: RunningSvc): () => void {
    const pids = processesOf(server);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    return () => {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    };
  }

  /** Some of the errors that all servers, former ones too, have logged. */
  loggedErrors(): string {
    const lines = this.#everyServer
      .flatMap(({ stdout, stderr }) => `${stdout}\n${stderr}`.split('\n'))
      .filter((line) => /"?level"?[:=]"?error/i.test(line));
    return [...lines.slice(0, 10), ...lines.slice(-5)].join('\n');
  }

  #forget(server: RunningSvc): void {
    this.#proxy.remove(server.url);
    this.#servers = this.#servers.filter((other) => other !== server);
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await this.stop(server);
    this.#proxy.close();
    await this.postgres.dispose();
    await this.s3.dispose();
  }
}

function processesOf(server: RunningSvc): number[] {
  return [server.pid, ...server.childPids()];
}
