import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptySha256, signRequest, SigningKeyCache } from '@svc/encoding';
import { tempDir, testServerOrSkip } from '@svc/testing';
import type { S3Server } from '@svc/testing';
import { startSvc, type RunningSvc } from '../start-server.ts';

export interface Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A server as an operator would set it up, to be attacked. */
export interface TargetServer {
  readonly server: RunningSvc;
  readonly admin: Key;
  /** `scheme://place`; repositories get namespaces below it. */
  readonly namespace: string;
  /** An address outside every namespace that may be imported. */
  readonly outside: string;
  /** Secrets of the installation that no answer may show. */
  readonly secrets: readonly string[];
  readonly encryptSecret: string;
  /** Calls the API as the administrator; anything but success throws. */
  readonly manage: (method: string, path: string, body?: unknown) => Promise<unknown>;
}

export type TargetStores = 'embedded' | 'postgres and s3';

const encryptSecret = 'encrypts the keys of the attacked server';
const signingSecret = 'signs the addresses of the attacked server';
const admin: Key = {
  accessKeyId: 'AKIAJATTACKEDSERVERQ',
  secretAccessKey: 'the-secret-of-its-administrator-0c6e',
};

/** Starts one with two workers; undefined (said aloud) where its stores cannot be had. */
export async function startTarget(
  stores: TargetStores,
  settings: object = {},
): Promise<TargetServer | undefined> {
  const folder = tempDir('svc-target');
  const placed = stores === 'embedded' ? embedded(folder) : await shared();
  if (placed === undefined) return undefined;
  const file = join(folder, 'config.yaml');
  const config = {
    database: placed.database,
    blockstore: { ...placed.blockstore, signing: { secret_key: signingSecret } },
    auth: { encrypt: { secret_key: encryptSecret }, ui_config: { rbac: 'internal' } },
    committed: { local_cache: { dir: join(folder, 'cache') } },
    server: { workers: 2 },
    logging: { level: 'INFO', format: 'json' },
    ...settings,
  };
  writeFileSync(file, JSON.stringify(config));
  const server = await startSvc(['--config', file], {}, folder);
  const pair = Buffer.from(`${admin.accessKeyId}:${admin.secretAccessKey}`).toString('base64');
  const manage = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await server.request(`/api/v1${path}`, {
      method,
      headers: {
        authorization: `Basic ${pair}`,
        'content-type': typeof body === 'string' ? 'application/octet-stream' : 'application/json',
        'content-length': Buffer.byteLength(text),
      },
      body: text,
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return answer.body === '' || !answer.body.startsWith('{') ? answer.body : JSON.parse(answer.body);
  };
  const key = { access_key_id: admin.accessKeyId, secret_access_key: admin.secretAccessKey };
  const made = await server.request('/api/v1/setup', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', key }),
  });
  // A shared database may have been set up before, by the same key.
  if (made.status !== 200 && made.status !== 409) throw new Error(`setup: ${made.status} ${made.body}`);
  const { namespace, outside, secrets } = placed;
  return {
    server,
    admin,
    namespace,
    outside,
    secrets: [encryptSecret, signingSecret, admin.secretAccessKey, ...secrets],
    encryptSecret,
    manage,
  };
}

interface Placed {
  readonly database: object;
  readonly blockstore: object;
  readonly namespace: string;
  readonly outside: string;
  readonly secrets: readonly string[];
}

function embedded(folder: string): Placed {
  const outside = join(folder, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'data'), 'may be imported');
  return {
    database: { type: 'local', local: { path: join(folder, 'kv'), sync_writes: false } },
    blockstore: {
      type: 'local',
      local: { path: join(folder, 'blocks'), import_enabled: true, allowed_external_prefixes: [outside] },
    },
    namespace: 'local://target',
    outside: `local://${outside}/data`,
    secrets: [],
  };
}

async function shared(): Promise<Placed | undefined> {
  const [postgres, s3] = [await testServerOrSkip('postgres'), await testServerOrSkip('versitygw')];
  if (postgres === undefined || s3 === undefined) return undefined;
  const { endpoint, region, accessKeyId, secretAccessKey } = s3;
  const name = `target-${process.pid}-${Date.now()}`;
  for (const bucket of [name, `${name}-outside`]) await createBucket(s3, bucket);
  return {
    database: {
      type: 'postgres',
      postgres: {
        connection_string: `${postgres.connectionString}&svckv_table=${name.replaceAll('-', '_')}`,
      },
    },
    blockstore: {
      type: 's3',
      s3: {
        endpoint,
        region,
        force_path_style: true,
        discover_bucket_region: false,
        credentials: { access_key_id: accessKeyId, secret_access_key: secretAccessKey },
      },
    },
    namespace: `s3://${name}`,
    outside: `s3://${name}-outside/data`,
    secrets: [secretAccessKey],
  };
}

async function createBucket({ endpoint, region, ...credentials }: S3Server, bucket: string): Promise<void> {
  const request = {
    method: 'PUT',
    path: `/${bucket}`,
    query: '',
    headers: { host: new URL(endpoint).host },
    payloadHash: emptySha256,
  };
  const keys = new SigningKeyCache();
  const { headers } = signRequest(request, { credentials, region, service: 's3', now: new Date(), keys });
  const answer = await fetch(`${endpoint}/${bucket}`, { method: 'PUT', headers });
  if (!answer.ok) throw new Error(`the bucket ${bucket}: ${answer.status} ${await answer.text()}`);
}
