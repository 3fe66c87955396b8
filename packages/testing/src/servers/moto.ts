import { pythonProgram } from '../fetch/python-environment.ts';
import { freePort } from '../free-port.ts';
import type { RunningServer } from './running-server.ts';
import { ServerProcess, acceptsConnections } from './server-process.ts';

/** The program. */
export function fetchMoto(): Promise<string> {
  return pythonProgram('moto_server', ['moto[server]==5.2.5']);
}

/** A second opinion on S3 error codes; also DynamoDB, Glue and STS. */
export async function startMoto(): Promise<RunningServer> {
  const program = await fetchMoto();
  const port = await freePort();
  const server = new ServerProcess(program, ['-H', '127.0.0.1', '-p', String(port)], {
    ready: () => acceptsConnections(port),
  });
  await server.start();
  return {
    address: {
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      accessKeyId: 'svc-test-access',
      secretAccessKey: 'svc-test-secret-key',
    },
    start: () => server.start(),
    stop: () => server.stop(),
    dispose: () => server.stop('SIGKILL'),
  };
}
