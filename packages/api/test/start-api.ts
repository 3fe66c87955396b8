import type { AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import { createAuth } from '@svc/auth';
import type { Auth, RbacMode } from '@svc/auth';
import type { Engine } from '@svc/engine';
import { createMemStore, LocalCacheBus } from '@svc/kv';
import type { KvStore } from '@svc/kv';
import { basePath, createApi } from '../src/index.ts';
import type { ApiObserver, EventsOptions, FinishedRequest, InstallationFacts } from '../src/index.ts';

export const adminKey = { accessKeyId: 'AKIAJTESTADMINKEY', secretAccessKey: 'a-secret-of-the-tests' };

export const authorization = basic(adminKey.accessKeyId, adminKey.secretAccessKey);

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

export const installation: InstallationFacts = {
  version: '0.1.0',
  storage: {
    type: 'mem',
    storageId: '',
    description: '',
    namespaceExample: 'mem://example-bucket/',
    namespaceValidityRegex: '^mem://',
    importValidityRegex: '^mem://',
    defaultNamespacePrefix: '',
    preSignSupport: false,
    preSignSupportUi: false,
    preSignMultipartUpload: false,
    importSupport: false,
  },
  storages: [],
  login: {
    loginUrl: '',
    loginUrlMethod: 'none',
    loginFailedMessage: "The credentials don't match.",
    loginCookieNames: ['access_token'],
    logoutUrl: '/logout',
  },
  actionsEnabled: true,
  customViewers: [],
};

export interface RunningApi {
  /** With the base path. */
  readonly url: string;
  readonly port: number;
  readonly auth: Auth;
  readonly failures: unknown[];
  readonly finished: FinishedRequest[];
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly kv?: KvStore;
  readonly mode?: RbacMode;
  readonly withoutSetup?: boolean;
  readonly facts?: InstallationFacts;
  readonly events?: (kv: KvStore, engine: Engine, auth: Auth) => EventsOptions;
}

/** A listening server with the API alone, an administrator and everything in memory. */
export async function startApi(
  makeEngine: (kv: KvStore, bus: LocalCacheBus) => Engine | Promise<Engine>,
  options: StartOptions = {},
): Promise<RunningApi> {
  const kv = options.kv ?? createMemStore();
  const cacheBus = new LocalCacheBus();
  const auth = await createAuth({
    kv,
    cacheBus,
    encryptSecretKey: 'a secret of the tests, long enough',
    mode: options.mode ?? 'internal',
    cache: { enabled: true, size: 1024, ttlMs: 20_000, jitterMs: 0 },
    loginDurationMs: 3_600_000,
    loginMaxDurationMs: 3_600_000,
    logger: quiet,
  });
  if (options.withoutSetup !== true) await auth.setup.run({ username: 'admin', key: adminKey });
  const failures: unknown[] = [];
  const finished: FinishedRequest[] = [];
  const observer: ApiObserver = {
    failed: (error) => failures.push(error),
    finished: (request) => finished.push(request),
  };
  const engine = await makeEngine(kv, cacheBus);
  const server = createServer(
    createApi({
      engine,
      auth,
      installation: () => options.facts ?? installation,
      observer,
      events: options.events?.(kv, engine, auth),
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${basePath}`,
    port,
    auth,
    failures,
    finished,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await engine.close();
      auth.close();
    },
  };
}
