import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { startPostgres, startVersitygw } from '@svc/testing';
import type { FloorStores } from '../floor-server.ts';
import type { Credentials } from './api.ts';

export interface RemoteStores {
  /** Groups of settings of a server that uses them. */
  readonly settings: object;
  /** The same for a bare server; its records have a table of their own. */
  readonly floor: FloorStores;
  /** Of the S3 server: one folder in it for each bucket. */
  readonly folder: string;
  /** The S3 server without svc in front of it. */
  readonly objectStore: { readonly endpoint: URL; readonly credentials: Credentials };
  stop(): Promise<unknown>;
}

/** PostgreSQL and an S3 server on this machine. */
export async function startRemoteStores(): Promise<RemoteStores> {
  // As a real one would: what is acknowledged is on disk.
  const [postgres, s3] = await Promise.all([startPostgres({ settings: { fsync: 'on' } }), startVersitygw()]);
  const { endpoint = '', region = '', accessKeyId: id = '', secretAccessKey: secret = '' } = s3.address;
  const credentials = { accessKeyId: id, secretAccessKey: secret };
  const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials });
  for (const bucket of ['bench', 'import']) await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  const { connectionString = '' } = postgres.address;
  const floor: FloorStores = {
    records: {
      type: 'postgres',
      connectionString: `${connectionString}&svckv_table=floor`,
      maxOpenConnections: 25,
      maxIdleConnections: 25,
      connectionMaxLifetimeMs: 0,
      scanPageSize: 1000,
    },
    objects: { type: 's3', endpoint, region, forcePathStyle: true, discoverBucketRegion: false, credentials },
    namespace: 's3://bench/floor',
  };
  const settings = {
    database: {
      type: 'postgres',
      postgres: { connection_string: connectionString, max_open_connections: 50 },
    },
    blockstore: {
      type: 's3',
      signing: { secret_key: 'signing-secret-of-the-benchmark' },
      s3: {
        endpoint,
        region,
        force_path_style: true,
        discover_bucket_region: false,
        credentials: { access_key_id: id, secret_access_key: secret },
      },
    },
  };
  const objectStore = { endpoint: new URL(endpoint), credentials };
  const { folder = '' } = s3.address;
  return {
    settings,
    floor,
    folder,
    objectStore,
    stop: () => Promise.all([postgres.dispose(), s3.dispose()]),
  };
}
