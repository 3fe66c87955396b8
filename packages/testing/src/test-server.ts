import { noteSecret } from './secrets/run-book.ts';
import { UnavailableError, orSkipReason } from './unavailable-error.ts';

/** The variable through which test processes find the run's server host. */
export const hostVariable = 'SVC_TEST_SERVER_HOST';

export interface ServerControl {
  /** Takes the server away, as a crash would. Only for tests that own their server. */
  stop(): Promise<void>;
  start(): Promise<void>;
  restart(): Promise<void>;
}

export interface PostgresServer extends ServerControl {
  readonly connectionString: string;
}

export interface AwsServer extends ServerControl {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export type S3Server = AwsServer;

export interface AzureServer extends ServerControl {
  readonly endpoint: string;
  readonly account: string;
  readonly accountKey: string;
  readonly otherAccount: string;
  readonly otherAccountKey: string;
}

export interface GcsServer extends ServerControl {
  readonly endpoint: string;
}

export interface TestServers {
  postgres: PostgresServer;
  versitygw: S3Server;
  /** Besides S3 it speaks DynamoDB, Glue and STS. */
  moto: AwsServer;
  dynamodb: AwsServer;
  azurite: AzureServer;
  'fake-gcs': GcsServer;
}

/** The run's shared server of that kind, started on first use. */
export async function testServer<Name extends keyof TestServers>(name: Name): Promise<TestServers[Name]> {
  const address = await ask(name, 'address');
  noteSecret(`the secret key of ${name}`, address['secretAccessKey'] ?? address['accountKey'] ?? '');
  const control: ServerControl = {
    stop: async () => void (await ask(name, 'stop')),
    start: async () => void (await ask(name, 'start')),
    restart: async () => {
      await ask(name, 'stop');
      await ask(name, 'start');
    },
  };
  return { ...address, ...control } as TestServers[Name];
}

/** Like `testServer`, but undefined (with the reason printed) where the server cannot be had; fails with CI=true. */
export function testServerOrSkip<Name extends keyof TestServers>(
  name: Name,
): Promise<TestServers[Name] | undefined> {
  return orSkipReason(name, () => testServer(name));
}

async function ask(name: string, action: string): Promise<Record<string, string>> {
  const host = process.env[hostVariable];
  if (host === undefined)
    throw new Error('test servers exist only in a test run (vitest with its global setup)');
  const response = await fetch(`${host}/${name}/${action}`);
  const body = (await response.json()) as Record<string, string>;
  if (response.ok) return body;
  const message = body['message'] ?? `status ${response.status}`;
  throw response.status === 404
    ? new UnavailableError(message)
    : new Error(`test server ${name}: ${message}`);
}
