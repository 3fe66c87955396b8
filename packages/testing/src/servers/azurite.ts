import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmPackage } from '../fetch/npm-package.ts';
import { freePort } from '../free-port.ts';
import type { RunningServer } from './running-server.ts';
import { ServerProcess, acceptsConnections } from './server-process.ts';

/** Keys of two accounts of no value. */
const accounts = {
  svctest: Buffer.alloc(64, 'svc-test-account-key').toString('base64'),
  svcother: Buffer.alloc(64, 'svc-other-account-key').toString('base64'),
};

/** The script that starts the blob service. */
export async function fetchAzurite(): Promise<string> {
  return join(await npmPackage('azurite@3.36.0'), 'dist', 'src', 'blob', 'main.js');
}

/** Azure's own emulator of its blob service. Containers are created by the tests. */
export async function startAzurite(tls?: {
  readonly cert: string;
  readonly key: string;
}): Promise<RunningServer> {
  const script = await fetchAzurite();
  const folder = await mkdtemp(join(tmpdir(), 'svc-azurite-'));
  const port = await freePort();
  const secure = tls === undefined ? [] : ['--cert', tls.cert, '--key', tls.key, '--oauth', 'basic'];
  const place = ['--location', folder, '--blobHost', '127.0.0.1', '--blobPort', String(port)];
  const server = new ServerProcess(
    process.execPath,
    [script, ...place, ...secure, '--silent', '--skipApiVersionCheck', '--disableTelemetry'],
    {
      cwd: folder,
      env: {
        ...process.env,
        AZURITE_ACCOUNTS: Object.entries(accounts)
          .map(([name, key]) => `${name}:${key}`)
          .join(';'),
      },
      ready: () => acceptsConnections(port),
    },
  );
  await server.start();
  return {
    address: {
      endpoint: `http${tls === undefined ? '' : 's'}://127.0.0.1:${port}`,
      account: 'svctest',
      accountKey: accounts.svctest,
      otherAccount: 'svcother',
      otherAccountKey: accounts.svcother,
    },
    start: () => server.start(),
    stop: () => server.stop(),
    dispose: async () => {
      await server.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
