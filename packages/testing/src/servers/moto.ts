import { dirname, join } from 'node:path';
import { freePort } from '../free-port.ts';
import { pythonEnvironment } from '../tools/python-environment.ts';
import type { RunningServer } from './running-server.ts';
import { ServerProcess, acceptsConnections } from './server-process.ts';

/** A second opinion on S3 error codes; also DynamoDB, Glue and STS. */
export async function startMoto(): Promise<RunningServer> {
  const python = await pythonEnvironment(['moto[server]==5.2.5']);
  const port = await freePort();
  const server = new ServerProcess(
    join(dirname(python), 'moto_server'),
    ['-H', '127.0.0.1', '-p', String(port)],
    {
      ready: () => acceptsConnections(port),
    },
  );
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
