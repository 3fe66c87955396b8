import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAuth, type Auth, type KeyPair, type Statement } from '@svc/auth';
import { openBlockStores } from '@svc/block';
import { openEngine, type Engine } from '@svc/engine';
import { createGateway } from '@svc/gateway';
import { createMemStore, LocalCacheBus } from '@svc/kv';
import { tempDir } from '@svc/testing';
import { createIceberg, type FinishedRequest } from '../src/index.ts';
import { parseJson, writeJson } from '../src/json.ts';

export const adminKey = {
  accessKeyId: 'AKIAJTESTTESTTESTTEQ',
  secretAccessKey: 'test-secret-access-key-of-the-administrator',
};
export const actor = { committer: 'admin' };

export interface Answered {
  readonly status: number;
  // Tests look into answers freely and fail where a field is not what they expect.
  readonly body: Fields;
  readonly errorType: string | undefined;
  readonly message: string;
}
export interface Fields {
  readonly [name: string]: Fields & string;
}

export interface TestCatalog {
  readonly engine: Engine;
  readonly auth: Auth;
  readonly endpoint: string;
  readonly finished: FinishedRequest[];
  readonly failures: unknown[];
  /** Sends a request for a path below `/iceberg/v1`. */
  send(method: string, path: string, body?: object, key?: KeyPair): Promise<Answered>;
  createRepository(name: string): Promise<void>;
  createUser(username: string, statements: readonly Statement[]): Promise<KeyPair>;
  commit(branch: string): Promise<string>;
  close(): Promise<void>;
}

/** The catalog and the gateway on real stores behind one listener, as the server has them. */
export async function composeCatalog(): Promise<TestCatalog> {
  const kv = createMemStore();
  const cacheBus = new LocalCacheBus();
  const blockStores = await openBlockStores([{ type: 'local', path: tempDir('svc-iceberg'), sync: false }]);
  const { engine } = await openEngine({
    kv,
    blockStores,
    cacheBus,
    signingSecret: 'signing secret of the tests',
    cacheDir: tempDir('svc-iceberg-cache'),
    treeSettings: { worker: false },
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
  const finished: FinishedRequest[] = [];
  const failures: unknown[] = [];
  const gateway = createGateway({
    engine,
    auth,
    domains: ['s3.svc.localhost'],
    region: 'us-east-1',
    verifyUnsupported: true,
    logger: { warn() {}, error: (fields) => failures.push(fields) },
  });
  const iceberg = createIceberg({
    engine,
    auth,
    region: 'us-east-1',
    observer: { finished: (request) => finished.push(request), failed: (error) => failures.push(error) },
  });
  const server = createServer((request, response) => {
    if (gateway.isGatewayRequest(request)) void gateway.handle(request, response);
    else void iceberg(request, response);
  });
  server.on('checkContinue', (request, response) => void gateway.handleExpectContinue(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    engine,
    auth,
    endpoint,
    finished,
    failures,
    send: async (method, path, body, key = adminKey) => {
      const basic = Buffer.from(`${key.accessKeyId}:${key.secretAccessKey}`).toString('base64');
      const response = await fetch(`${endpoint}/iceberg/v1${path}`, {
        method,
        headers: { authorization: `Basic ${basic}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: writeJson(body) }),
      });
      const text = await response.text();
      const json = (text === '' ? {} : parseJson(text)) as unknown as Fields;
      const { type, message } = (json as { error?: { type?: string; message?: string } }).error ?? {};
      return { status: response.status, body: json, errorType: type, message: message ?? '' };
    },
    createRepository: async (name) => {
      await engine.repositories.create({ name, storageNamespace: `local://tests/${name}`, actor });
    },
    createUser: async (username, statement) => {
      const admin = { username: 'admin' };
      await auth.users.create({ username }, admin);
      await auth.policies.create({ id: `Policy-${username}`, statement }, admin);
      await auth.users.attachPolicy(username, `Policy-${username}`, admin);
      return auth.credentials.create(username, admin);
    },
    commit: async (branch) =>
      (await engine.commits.create({ repository: 'lake', branch, message: 'commit', actor })).id,
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
