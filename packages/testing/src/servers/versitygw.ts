import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goTool } from '../fetch/go-tool.ts';
import { freePort } from '../free-port.ts';
import type { RunningServer } from './running-server.ts';
import { ServerProcess, acceptsConnections } from './server-process.ts';

/** The program. */
export function fetchVersitygw(): Promise<string> {
  return goTool('github.com/versity/versitygw/cmd/versitygw@v1.8.0');
}

/** An S3 server over a folder, which `address.folder` names. Buckets are created by the tests. */
export async function startVersitygw(): Promise<RunningServer> {
  const binary = await fetchVersitygw();
  const folder = await mkdtemp(join(tmpdir(), 'svc-versitygw-'));
  const data = join(folder, 'data');
  await mkdir(data);
  const port = await freePort();
  const credentials = { accessKeyId: 'svc-test-access', secretAccessKey: 'svc-test-secret-key' };
  const server = new ServerProcess(
    binary,
    [
      '--access',
      credentials.accessKeyId,
      '--secret',
      credentials.secretAccessKey,
      '--region',
      'us-east-1',
      '--keep-alive',
      '--quiet',
      '--port',
      `127.0.0.1:${port}`,
      'posix',
      data,
    ],
    { cwd: folder, ready: () => acceptsConnections(port) },
  );
  await server.start();
  return {
    address: { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', ...credentials, folder: data },
    start: () => server.start(),
    stop: () => server.stop(),
    dispose: async () => {
      await server.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
