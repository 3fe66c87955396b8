import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { dataClients, noteSecret, orSkipReason, runCommand, testServerOrSkip, waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import { HookedRepository } from './hook-server.ts';
import { quickstartKey, startSvc } from './start-server.ts';

const [store, catalog, python] = await Promise.all([
  testServerOrSkip('versitygw'),
  testServerOrSkip('moto'),
  orSkipReason('the data clients', dataClients),
]);
const isReady = store !== undefined && catalog !== undefined && python !== undefined;
const bucket = 'exported-tables';

/** A table that delta-rs writes through the gateway: appends, a delete and a checkpoint. */
const writes = `
import sys, pyarrow as pa
from deltalake import DeltaTable, write_deltalake
endpoint, key, secret = sys.argv[1:4]
options = {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_ENDPOINT_URL": endpoint,
  "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true", "conditional_put": "etag"}
table = "s3://hooked/main/tables/zoo"
rows = lambda start: pa.table({"n": list(range(start, start + 4)), "kind": ["a cat", "b%", "c+d", "ü"]})
write_deltalake(table, rows(0), partition_by=["kind"], storage_options=options)
write_deltalake(table, rows(4), mode="append", storage_options=options)
DeltaTable(table, storage_options=options).delete("n = 1")
DeltaTable(table, storage_options=options).create_checkpoint()
`;

/** Reads the exported table from the store, past the service. */
const reads = `
import sys, json
import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
endpoint, key, secret, table = sys.argv[1:5]
options = {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_ENDPOINT_URL": endpoint,
  "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}
found = DeltaTable(table, storage_options=options)
# Its readers for pyarrow do not know files outside the table's folder; its own engine does.
query = QueryBuilder().register("t", found).execute("select n, kind from t order by n")
rows = pa.table(query.read_all()).to_pydict()
print(json.dumps({"version": found.version(), "n": rows["n"], "kind": rows["kind"]}))
`;

const script = `
local aws = require("aws")
local s3 = aws.s3_client(args.key, args.secret, args.region, args.store)
local glue = aws.glue_client(args.key, args.secret, args.region, args.catalog)
local hive = "_svc_tables/animals.yaml"
local links = require("svc/catalogexport/symlink_exporter").export_s3(s3, hive, action, {})
print("links", links.location.key)
local input = {StorageDescriptor={InputFormat="org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat"}}
require("svc/catalogexport/glue_exporter").export_glue(glue, "lake", hive, input, action, {create_db_input={}})
local delta = require("formats").delta_client(args.svc_key, args.svc_secret, args.region)
local exported = require("svc/catalogexport/delta_exporter").export_delta_log(action, {"zoo"}, s3.put_object, delta, "_svc_tables")
print("delta", exported.zoo.path)
local unity = require("databricks").client(args.unity, "token-of-the-workspace")
local statuses = require("svc/catalogexport/unity_exporter").register_tables(action, "_svc_tables", exported, unity, "w1")
print("unity", statuses.zoo)
`;

const hive = `name: animals
type: hive
path: tables/animals
partition_columns: ['type', 'weight']
schema:
  type: struct
  fields:
    - {name: weight, type: integer, nullable: false, metadata: {}}
    - {name: name, type: string, nullable: false, metadata: {}}
    - {name: type, type: string, nullable: true, metadata: {}}
`;

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

/** Answers as a workspace with a Unity catalog does, and notes what it was asked. */
async function startUnity() {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      asked.push({ method, path, authorization: headers.authorization, body });
      const answers: Record<string, object> = {
        '/api/2.1/unity-catalog/schemas': { name: 'main', catalog_name: 'lake', full_name: 'lake.main' },
        '/api/2.0/sql/statements/': { statement_id: '01ef', status: { state: 'PENDING' } },
        '/api/2.0/sql/statements/01ef': { statement_id: '01ef', status: { state: 'SUCCEEDED' } },
      };
      const found = answers[path];
      response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(found ?? { error_code: 'ENDPOINT_NOT_FOUND', message: path }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked, close: () => server.close() };
}

test.runIf(isReady)('a hook exports tables to a store, Glue, Delta readers and a Unity catalog', async () => {
  if (store === undefined || catalog === undefined || python === undefined) return;
  noteSecret('the secret of the store', store.secretAccessKey);
  const { accessKeyId, secretAccessKey, endpoint, region } = store;
  const credentials = { accessKeyId, secretAccessKey };
  const s3 = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: bucket }));
  const unity = await startUnity();
  const server = await startSvc([], {
    SVC_SERVER_WORKERS: '1',
    SVC_DATABASE_TYPE: 'local',
    SVC_BLOCKSTORE_TYPE: 's3',
    SVC_BLOCKSTORE_S3_ENDPOINT: endpoint,
    SVC_BLOCKSTORE_S3_REGION: region,
    SVC_BLOCKSTORE_S3_FORCE_PATH_STYLE: 'true',
    SVC_BLOCKSTORE_S3_DISCOVER_BUCKET_REGION: 'false',
    SVC_BLOCKSTORE_S3_CREDENTIALS_ACCESS_KEY_ID: accessKeyId,
    SVC_BLOCKSTORE_S3_CREDENTIALS_SECRET_ACCESS_KEY: secretAccessKey,
    SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'signing secret of the test',
    SVC_AUTH_ENCRYPT_SECRET_KEY: 'encryption secret of the test',
    SVC_INSTALLATION_USER_NAME: 'admin',
    SVC_INSTALLATION_ACCESS_KEY_ID: quickstartKey.accessKeyId,
    SVC_INSTALLATION_SECRET_ACCESS_KEY: quickstartKey.secretAccessKey,
    SVCACTION_SECRET: secretAccessKey,
    SVCACTION_SVC_SECRET: quickstartKey.secretAccessKey,
  });
  const repository = new HookedRepository(server);
  expect(await repository.create(`s3://${bucket}/hooked`)).toMatchObject({ status: 201 });
  await runCommand(python, ['-c', writes, server.url, ...Object.values(quickstartKey)]);
  const leaf = 'tables/animals/type=cat/weight=1/';
  for (const path of [leaf, `${leaf}a.csv`, `${leaf}_hidden.crc`, 'tables/animals/type=dog/weight=2/b.csv'])
    await repository.put(path, path.endsWith('/') ? '' : 'row');
  await repository.put('_svc_tables/animals.yaml', hive);
  await repository.put('_svc_tables/zoo.yaml', 'name: zoo\ntype: delta\npath: tables/zoo\ncatalog: lake\n');
  const args = {
    key: accessKeyId,
    secret: '{{ ENV.SVCACTION_SECRET }}',
    region,
    store: endpoint,
    catalog: catalog.endpoint,
    svc_key: quickstartKey.accessKeyId,
    svc_secret: '{{ ENV.SVCACTION_SVC_SECRET }}',
    unity: unity.url,
  };
  const hook = { id: 'exports', type: 'lua', properties: { script, args } };
  await repository.put(
    '_svc_actions/export.yaml',
    JSON.stringify({ name: 'export tables', on: { 'post-commit': null }, hooks: [hook] }),
  );
  const { id } = JSON.parse((await repository.commit('exported')).body) as { id: string };
  const run = await waitUntil(async () => (await repository.runs())[0], { what: 'the export' });
  const output = (await repository.get(`actions/runs/${run['run_id'] ?? ''}/hooks/0000_0000/output`)).body;
  const prefix = `hooked/_svc/exported/main/${id.slice(0, 6)}`;
  expect(output).toBe(`links\t${prefix}/\ndelta\ts3://${bucket}/${prefix}/zoo\nunity\tSUCCEEDED\n`);
  expect(run['status']).toBe('completed');

  // Each link leads to an object of the store.
  const read = async (key: string): Promise<string> =>
    (await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }))).Body?.transformToString() ?? '';
  const listed = await s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: `${prefix}/animals/` }));
  expect(listed.Contents?.map(({ Key }) => Key)).toEqual([
    `${prefix}/animals/type=cat/weight=1/symlink.txt`,
    `${prefix}/animals/type=dog/weight=2/symlink.txt`,
  ]);
  for (const { Key: key = '' } of listed.Contents ?? []) {
    const [address = '', end] = (await read(key)).split('\n');
    expect(end).toBe('');
    expect(await read(address.replace(`s3://${bucket}/`, ''))).toBe('row');
  }

  const table = await fetch(catalog.endpoint, {
    method: 'POST',
    headers: {
      'x-amz-target': 'AWSGlue.GetTable',
      'content-type': 'application/x-amz-json-1.1',
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/${region}/glue/aws4_request`,
    },
    body: JSON.stringify({ DatabaseName: 'lake', Name: `animals_hooked_main_${id.slice(0, 6)}` }),
  });
  expect(await table.json()).toMatchObject({
    Table: {
      TableType: 'EXTERNAL_TABLE',
      PartitionKeys: [
        { Name: 'type', Type: 'string' },
        { Name: 'weight', Type: 'int' },
      ],
      StorageDescriptor: {
        Columns: [{ Name: 'name', Type: 'string' }],
        Location: `s3://${bucket}/${prefix}/animals`,
      },
    },
  });

  const stdout = await runCommand(python, [
    '-c',
    reads,
    endpoint,
    accessKeyId,
    secretAccessKey,
    `s3://${bucket}/${prefix}/zoo`,
  ]);
  expect(JSON.parse(stdout)).toEqual({
    version: 2,
    n: [0, 2, 3, 4, 5, 6, 7],
    kind: ['a cat', 'c+d', 'ü', 'a cat', 'b%', 'c+d', 'ü'],
  });

  const authorization = 'Bearer token-of-the-workspace';
  const statement = `CREATE EXTERNAL TABLE zoo LOCATION 's3://${bucket}/${prefix}/zoo'`;
  expect(unity.asked).toEqual([
    {
      method: 'POST',
      path: '/api/2.1/unity-catalog/schemas',
      authorization,
      body: { name: 'main', catalog_name: 'lake' },
    },
    {
      method: 'POST',
      path: '/api/2.0/sql/statements/',
      authorization,
      body: { statement, warehouse_id: 'w1', catalog: 'lake', schema: 'main', wait_timeout: '30s' },
    },
    { method: 'GET', path: '/api/2.0/sql/statements/01ef', authorization, body: undefined },
  ]);
  unity.close();
  s3.destroy();
  expect((await server.stop()).code).toBe(0);
});
