import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAuth, type Auth } from '@svc/auth';
import { openBlockStores, type BlockAdapter, type BlockStoreConfig } from '@svc/block';
import { namedStore } from '@svc/block/named-store';
import { openEngine, type Engine, type EngineOptions } from '@svc/engine';
import { createMemStore, LocalCacheBus, type KvStore } from '@svc/kv';
import { tempDir } from '@svc/testing';
import { createGateway, type GatewayOptions, type RequestRecord } from '../src/index.ts';
import { S3TestClient } from './s3-test-client.ts';

export const adminKey = {
  accessKeyId: 'AKIAJTESTTESTTESTTEQ',
  secretAccessKey: 'test-secret-access-key-of-the-administrator',
};
export const domain = 's3.svc.localhost';

export interface ComposeOptions {
  readonly block?: BlockStoreConfig | undefined;
  readonly kv?: KvStore | undefined;
  readonly tls?: boolean | undefined;
  readonly engine?: Partial<EngineOptions> | undefined;
  readonly gateway?: Partial<GatewayOptions> | undefined;
}

/** A gateway on real stores behind a real listener: everything but the API, the UI and the configuration. */
export interface TestGateway {
  readonly engine: Engine;
  readonly auth: Auth;
  /** The store itself, to put there what the gateway would not. */
  readonly block: BlockAdapter;
  readonly server: Server;
  readonly port: number;
  readonly endpoint: string;
  /** Operations that began, in order. */
  readonly begun: string[];
  readonly records: RequestRecord[];
  readonly errors: unknown[];
  /** Names of the object files in the local store. */
  storedFiles(): string[];
  /** Namespace for a new repository. */
  namespace(name: string): string;
  createRepository(name: string): Promise<void>;
  client(key?: { readonly accessKeyId: string; readonly secretAccessKey: string }): S3TestClient;
  close(): Promise<void>;
}

export async function composeGateway(options: ComposeOptions = {}): Promise<TestGateway> {
  const block = options.block ??
    namedStore?.config ?? { type: 'local', path: tempDir('svc-gateway'), sync: false };
  const kv = options.kv ?? createMemStore();
  const cacheBus = new LocalCacheBus();
  const blockStores = await openBlockStores([block]);
  const { engine } = await openEngine({
    kv,
    blockStores,
    cacheBus,
    signingSecret: 'signing secret of the tests',
    cacheDir: tempDir('svc-gateway-cache'),
    treeSettings: { worker: false },
    ...options.engine,
  });
  const auth = await createAuth({
    kv,
    cacheBus,
    encryptSecretKey: 'a secret of more than sixteen bytes',
    mode: 'internal',
    cache: { enabled: true, size: 1024, ttlMs: 20_000, jitterMs: 3000 },
    loginDurationMs: 3_600_000,
    loginMaxDurationMs: 3_600_000,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  await auth.setup.run({ username: 'admin', key: adminKey });
  const begun: string[] = [];
  const records: RequestRecord[] = [];
  const errors: unknown[] = [];
  const gateway = createGateway({
    engine,
    auth,
    domains: [domain],
    region: 'us-east-1',
    verifyUnsupported: true,
    logger: { warn() {}, error: (fields) => errors.push(fields) },
    observer: { started: (operation) => begun.push(operation), finished: (record) => records.push(record) },
    ...options.gateway,
  });
  const onRequest = (message: IncomingMessage, response: ServerResponse): void => {
    if (gateway.isGatewayRequest(message)) void gateway.handle(message, response);
    else response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>ui</html>');
  };
  const limits = { requestTimeout: 0, maxHeaderSize: 1024 * 1024 };
  const server =
    options.tls === true
      ? createSecureServer({ ...limits, key: fixture('key'), cert: fixture('cert') }, onRequest)
      : createServer(limits, onRequest);
  server.on('checkContinue', (message, response) => void gateway.handleExpectContinue(message, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const namespace = (name: string): string => `${placeOf(block)}/${name}-${port}`;
  return {
    engine,
    auth,
    block: blockStores.get(''),
    server,
    port,
    endpoint: `${options.tls === true ? 'https' : 'http'}://127.0.0.1:${port}`,
    begun,
    records,
    errors,
    namespace,
    storedFiles: () =>
      block.type === 'local'
        ? readdirSync(block.path, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => join(entry.parentPath, entry.name))
        : [],
    createRepository: async (name) => {
      await engine.repositories.create({
        name,
        storageNamespace: namespace(name),
        actor: { committer: 'admin' },
      });
    },
    client: (key = adminKey) => new S3TestClient({ port, ...key }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await engine.close();
      auth.close();
      await blockStores.close();
      await kv.close();
    },
  };
}

/** Where tests of a store put their repositories. */
function placeOf(block: BlockStoreConfig): string {
  switch (block.type) {
    case 's3':
    case 'gs':
      return `${block.type}://svc-gateway-tests`;
    case 'azure':
      return `https://${block.storageAccount}.blob.core.windows.net/svc-gateway-tests`;
    case 'local':
    case 'mem':
      return `${block.type}://tests`;
  }
}

function fixture(part: 'key' | 'cert'): Buffer {
  return readFileSync(join(import.meta.dirname, 'fixtures', `localhost.${part}.pem`));
}
