// The vendors' own clients, as their documentation uses them: what the adapters and drivers are measured beside.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { npmPackage } from '@svc/testing';

export interface RawObjects {
  put(name: string, body: Buffer): Promise<unknown>;
  get(name: string): Promise<unknown>;
  putStream(name: string, body: Readable): Promise<unknown>;
  getStream(name: string): Promise<Readable>;
}

export interface RawKeys {
  put(key: string, value: Buffer): Promise<unknown>;
  get(key: string): Promise<unknown>;
}

async function load<Module>(packageAtVersion: string): Promise<Module> {
  const folder = await npmPackage(packageAtVersion);
  return createRequire(join(folder, 'package.json'))(folder) as Module;
}

export async function s3Objects(
  server: { endpoint: string; region: string; credentials: { accessKeyId: string; secretAccessKey: string } },
  Bucket: string,
  largeSize: number,
): Promise<RawObjects> {
  const client = new S3Client({ ...server, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket }));
  const open = async (Key: string): Promise<Readable> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    return Body as Readable;
  };
  return {
    put: (Key, Body) => client.send(new PutObjectCommand({ Bucket, Key, Body })),
    get: async (Key) => {
      for await (const _chunk of await open(Key));
    },
    putStream: (Key, Body) =>
      client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: largeSize })),
    getStream: open,
  };
}

interface GoogleFile {
  save(body: Buffer, options: object): Promise<void>;
  download(): Promise<unknown>;
  createWriteStream(): NodeJS.WritableStream;
  createReadStream(): Readable;
}
type GoogleStorage = new (options: object) => { bucket(name: string): { file(name: string): GoogleFile } };

export async function googleObjects(endpoint: string, bucketName: string): Promise<RawObjects> {
  const { Storage } = await load<{ Storage: GoogleStorage }>('@google-cloud/storage@8.4.0');
  const bucket = new Storage({ apiEndpoint: endpoint, projectId: 'svc' }).bucket(bucketName);
  return {
    put: (name, body) => bucket.file(name).save(body, { resumable: false }),
    get: (name) => bucket.file(name).download(),
    putStream: (name, body) =>
      new Promise((resolve, reject) => {
        body
          .pipe(bucket.file(name).createWriteStream())
          .on('finish', () => resolve(undefined))
          .on('error', reject);
      }),
    getStream: (name) => Promise.resolve(bucket.file(name).createReadStream()),
  };
}

interface AzureBlob {
  upload(body: Buffer, length: number): Promise<unknown>;
  downloadToBuffer(): Promise<Buffer>;
  uploadStream(body: Readable, size: number, parallel: number): Promise<unknown>;
  download(): Promise<{ readableStreamBody?: Readable }>;
}
interface AzureModule {
  StorageSharedKeyCredential: new (account: string, key: string) => object;
  ContainerClient: new (url: string, credential: object) => { getBlockBlobClient(name: string): AzureBlob };
}

export async function azureObjects(
  server: { endpoint: string; account: string; accountKey: string },
  containerName: string,
): Promise<RawObjects> {
  const azure = await load<AzureModule>('@azure/storage-blob@12.34.0');
  const credential = new azure.StorageSharedKeyCredential(server.account, server.accountKey);
  const url = `${server.endpoint}/${server.account}/${containerName}`;
  const container = new azure.ContainerClient(url, credential);
  return {
    put: (name, body) => container.getBlockBlobClient(name).upload(body, body.length),
    get: (name) => container.getBlockBlobClient(name).downloadToBuffer(),
    putStream: (name, body) => container.getBlockBlobClient(name).uploadStream(body, 8 << 20, 5),
    getStream: async (name) => {
      const { readableStreamBody } = await container.getBlockBlobClient(name).download();
      if (readableStreamBody === undefined) throw new Error('no body');
      return readableStreamBody;
    },
  };
}

interface PostgresModule {
  Pool: new (options: object) => {
    query(query: object | string): Promise<unknown>;
    on(event: 'error', listener: () => void): void;
  };
}

export async function postgresKeys(connectionString: string, max: number): Promise<RawKeys> {
  const { Pool } = await load<PostgresModule>('pg@8.23.1');
  const pool = new Pool({ connectionString, max });
  // The server is stopped before its connections.
  pool.on('error', () => undefined);
  await pool.query('CREATE TABLE raw (p bytea, k bytea, v bytea NOT NULL, PRIMARY KEY (p, k))');
  const p = Buffer.from('p');
  return {
    put: (key, value) =>
      pool.query({
        name: 'put',
        text: 'INSERT INTO raw (p, k, v) VALUES ($1, $2, $3) ON CONFLICT (p, k) DO UPDATE SET v = $3',
        values: [p, Buffer.from(key), value],
      }),
    get: (key) =>
      pool.query({
        name: 'get',
        text: 'SELECT v FROM raw WHERE p = $1 AND k = $2',
        values: [p, Buffer.from(key)],
      }),
  };
}

interface DynamoModule {
  DynamoDBClient: new (options: object) => { send(command: object): Promise<unknown> };
  CreateTableCommand: new (input: object) => object;
  PutItemCommand: new (input: object) => object;
  GetItemCommand: new (input: object) => object;
}

export async function dynamoKeys(server: {
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}): Promise<RawKeys> {
  const dynamo = await load<DynamoModule>('@aws-sdk/client-dynamodb@3.1162.0');
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  const client = new dynamo.DynamoDBClient({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
  });
  await client.send(
    new dynamo.CreateTableCommand({
      TableName: 'raw',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'p', KeyType: 'HASH' },
        { AttributeName: 'k', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'p', AttributeType: 'B' },
        { AttributeName: 'k', AttributeType: 'B' },
      ],
    }),
  );
  const at = (key: string): object => ({ p: { B: Buffer.from('p') }, k: { B: Buffer.from(key) } });
  return {
    put: (key, value) =>
      client.send(new dynamo.PutItemCommand({ TableName: 'raw', Item: { ...at(key), v: { B: value } } })),
    get: (key) =>
      client.send(new dynamo.GetItemCommand({ TableName: 'raw', Key: at(key), ConsistentRead: true })),
  };
}

interface CosmosItems {
  items: { upsert(item: object): Promise<unknown> };
  item(id: string, partition: string): { read(): Promise<{ statusCode: number }> };
}
interface CosmosModule {
  CosmosClient: new (options: object) => {
    database(id: string): { container(id: string): CosmosItems };
  };
}

export async function cosmosKeys(server: {
  endpoint: string;
  key: string;
  database: string;
  container: string;
}): Promise<RawKeys> {
  const { CosmosClient } = await load<CosmosModule>('@azure/cosmos@4.10.1');
  const client = new CosmosClient({ endpoint: server.endpoint, key: server.key });
  const container = client.database(server.database).container(server.container);
  return {
    put: (key, value) =>
      container.items.upsert({ id: key, partitionKey: 'raw', value: value.toString('base64') }),
    get: (key) => container.item(key, 'raw').read(),
  };
}
