import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mavenClasspath } from '../fetch/maven-classpath.ts';
import { freePort } from '../free-port.ts';
import type { RunningServer } from './running-server.ts';
import { ServerProcess, acceptsConnections } from './server-process.ts';

/** Its class path. */
export function fetchDynamoDb(): Promise<string> {
  return mavenClasspath(['software.amazon.dynamodb:DynamoDBLocal:3.1.0']);
}

/** DynamoDB as AWS gives it out for tests. On `disk` its data outlives a restart, and it is many times slower. */
export async function startDynamoDb(data: 'memory' | 'disk' = 'memory'): Promise<RunningServer> {
  const classpath = await fetchDynamoDb();
  const folder = await mkdtemp(join(tmpdir(), 'svc-dynamodb-'));
  const port = await freePort();
  const server = new ServerProcess(
    'java',
    [
      '-Xmx512m',
      `-Dsqlite4java.library.path=${dirname(classpath)}`,
      '-cp',
      classpath,
      'software.amazon.dynamodb.services.local.main.ServerRunner',
      ...(data === 'memory' ? ['-inMemory'] : ['-dbPath', folder]),
      '-port',
      String(port),
      '-disableTelemetry',
    ],
    { cwd: folder, ready: () => acceptsConnections(port) },
  );
  await server.start();
  return {
    address: {
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      // Letters and digits only: it refuses other access keys.
      accessKeyId: 'svctestaccess',
      secretAccessKey: 'svc-test-dynamodb-secret',
    },
    start: () => server.start(),
    // As if the machine went away.
    // It answers before its file has everything: a kill would lose what it acknowledged.
    stop: () => server.stop(),
    dispose: async () => {
      await server.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
