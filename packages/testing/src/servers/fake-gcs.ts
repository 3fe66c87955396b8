import { goTool } from '../fetch/go-tool.ts';
import { freePort } from '../free-port.ts';
import type { RunningServer } from './running-server.ts';
import { ServerProcess, acceptsConnections } from './server-process.ts';

/** The program. */
export function fetchFakeGcs(): Promise<string> {
  return goTool('github.com/fsouza/fake-gcs-server@v1.56.1');
}

/** A server of the Google Cloud Storage API that keeps objects in memory. Buckets are created by the tests. */
export async function startFakeGcs(): Promise<RunningServer> {
  const program = await fetchFakeGcs();
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const server = new ServerProcess(
    program,
    [
      '-scheme',
      'http',
      '-host',
      '127.0.0.1',
      '-port',
      String(port),
      '-backend',
      'memory',
      '-public-host',
      `127.0.0.1:${port}`,
      '-external-url',
      endpoint,
      '-log-level',
      'error',
    ],
    { ready: () => acceptsConnections(port) },
  );
  await server.start();
  return {
    address: { endpoint },
    start: () => server.start(),
    stop: () => server.stop(),
    dispose: () => server.stop('SIGKILL'),
  };
}
