import { expect, test } from 'vitest';
import { run } from '../../../test/run-lua.ts';
import type { HostAnswer, HostCall } from '../worker-protocol.ts';

const action = {
  event_type: 'post-commit',
  repository_id: 'repo',
  branch_id: 'main',
  commit_id: '0123456789abcdef',
  tag_id: '',
  storage_namespace: 's3://bucket/ns',
};

const log = (version: number, ...entries: object[]): [string, string] => [
  `tables/animals/_delta_log/${String(version).padStart(20, '0')}.json`,
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''),
];

/** The vector of the example of the format's own description: 4 bytes of prefix `ab` and a UUID. */
const vector = {
  storageType: 'u',
  pathOrInlineDv: 'ab^-aqEH.-t@S}K{vb[*k^',
  offset: 4,
  sizeInBytes: 40,
  cardinality: 6,
};

const objects = new Map<string, string>([
  ['_svc_tables/animals.yaml', 'name: animals\ntype: delta\npath: tables/animals\ncatalog: zoo\n'],
  ['_svc_tables/hive.yaml', 'name: hive\ntype: hive\npath: x\n'],
  log(
    0,
    { protocol: { minReaderVersion: 1 } },
    {
      metaData: {
        id: 'i1',
        name: 'animals',
        description: "the zoo's",
        schemaString: '{}',
        partitionColumns: ['kind'],
      },
    },
    { add: { path: 'kind=a%20cat/part-0.parquet', size: 3 } },
  ),
  log(
    10,
    { remove: { path: 'kind=a%20cat/part-0.parquet' } },
    { remove: { path: 'gone.parquet' } },
    { add: { path: 'part-1+.parquet', deletionVector: vector } },
  ),
  ['tables/animals/_delta_log/00000000000000000010.checkpoint.parquet', 'PAR1'],
  ['tables/animals/kind=a cat/part-0.parquet', 'x'],
  ['tables/animals/part-1+.parquet', 'x'],
  ['tables/animals/ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin', 'x'],
]);

const answer = (status: number, body: object | string): HostAnswer => ({
  status,
  statusText: '',
  rawHeaders: [],
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});

/** A repository with the objects above. */
function repository(call: HostCall): HostAnswer {
  if (call.kind !== 'api') return { error: 'only the API is asked' };
  const { path, query } = call;
  if (path.endsWith('/diff/main')) {
    const results = ['tables/animals/kind=a cat/part-0.parquet', 'other/x'].map((changed) => ({
      path: changed,
      type: 'added',
    }));
    return answer(200, { pagination: { has_more: false, next_offset: '' }, results });
  }
  if (path.endsWith('/objects/ls')) {
    expect(call.credentials).toEqual({ accessKeyId: 'key', secretAccessKey: 'secret' });
    const left = [...objects.keys()].filter(
      (name) => name.startsWith(query['prefix'] ?? '') && name > (query['after'] ?? ''),
    );
    const page = left.toSorted().slice(0, 2);
    return answer(200, {
      pagination: { has_more: left.length > 2, next_offset: page.at(-1) ?? '' },
      results: page.map((name) => ({ path: name, path_type: 'object' })),
    });
  }
  const found = objects.get(query['path'] ?? '');
  if (found === undefined) return answer(404, { message: 'not found' });
  if (!path.endsWith('/stat')) return answer(200, found);
  return answer(200, {
    physical_address: `s3://data/${(query['path'] ?? '').replace('tables/animals/', 'p/')}`,
  });
}

const exports = `
  local exporter = require("lakefs/catalogexport/delta_exporter")
  local client = require("formats").delta_client("key", "secret", "us-east-1")
  local written = {}
  local function write(bucket, key, data) print(bucket, key) print(data) end
`;

test('a Delta log is exported with physical addresses, numbered from zero', async () => {
  const { output, failure } = await run(
    `${exports}
    local result = exporter.export_delta_log(action, {"animals"}, write, client, "_svc_tables",
      function(address) return address .. "!" end)
    print(result.animals.path, result.animals.metadata.description, result.animals.metadata.partition_columns[1])`,
    { action },
    repository,
  );
  expect(failure).toBeUndefined();
  const lines = output.split('\n').filter((line) => line !== '');
  const prefix = 'ns/_svc/exported/main/012345/animals';
  expect(lines[0]).toBe(`bucket\t${prefix}/_delta_log/00000000000000000000.json`);
  expect(JSON.parse(lines[3] ?? '')).toEqual({
    add: { path: 's3://data/p/kind=a%20cat/part-0.parquet!', size: 3 },
  });
  expect(lines[4]).toBe(`bucket\t${prefix}/_delta_log/00000000000000000001.json`);
  expect(lines.slice(5, 8).map((line) => JSON.parse(line) as unknown)).toEqual([
    { remove: { path: 's3://data/p/kind=a%20cat/part-0.parquet!' } },
    { remove: { path: 'gone.parquet' } },
    {
      add: {
        path: expect.stringMatching(/^s3:\/\/data\/p\/part-1(\+|%2B)\.parquet!$/) as string,
        deletionVector: {
          ...vector,
          storageType: 'p',
          pathOrInlineDv: 's3://data/p/ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin!',
        },
      },
    },
  ]);
  expect(lines[8]).toBe(`s3://bucket/${prefix}\tthe zoo's\tkind`);
});

test('an added object that is not there fails the export before anything is written', async () => {
  const broken = (call: HostCall): HostAnswer =>
    call.kind === 'api' && call.path.endsWith('/stat') && call.query['path']?.includes('part-1') === true
      ? answer(404, {})
      : repository(call);
  const { output, failure } = await run(
    `${exports} exporter.export_delta_log(action, {"animals"}, write, client, "_svc_tables")`,
    { action },
    broken,
  );
  expect(failure).toContain('The following objects were not found: tables/animals/part-1+.parquet');
  expect(output).toBe('');
});

test('which tables changed, and that only Delta tables are exported', async () => {
  const { output, failure } = await run(
    `${exports}
    print(#exporter.changed_table_defs({"animals"}, "_svc_tables", "repo", "main", "old"))
    print((pcall(exporter.export_delta_log, action, {"hive"}, write, client, "_svc_tables")))`,
    { action },
    repository,
  );
  expect(failure).toBeUndefined();
  expect(output).toBe('1\nfalse\n');
});

test('tables are registered with a Unity catalog, and again when they are there', async () => {
  const asked: string[] = [];
  let tables = 0;
  const unity = (call: HostCall): HostAnswer => {
    if (call.kind !== 'http') return repository(call);
    expect(call.headers).toMatchObject({ authorization: 'Bearer token' });
    const body = call.body === undefined ? {} : (JSON.parse(call.body) as Record<string, string>);
    asked.push(
      `${call.method} ${new URL(call.url).pathname} ${body['statement'] ?? body['name'] ?? ''}`.trim(),
    );
    if (call.url.endsWith('/unity-catalog/schemas'))
      return answer(400, { error_code: 'SCHEMA_ALREADY_EXISTS', message: "Schema 'main' already exists" });
    if (call.url.includes('/unity-catalog/schemas/'))
      return answer(200, { name: 'main', catalog_name: 'zoo' });
    if (call.method === 'GET') return answer(200, { statement_id: 's1', status: { state: 'SUCCEEDED' } });
    if (body['statement']?.startsWith('DROP') === true)
      return answer(200, { statement_id: 's1', status: { state: 'PENDING' } });
    tables += 1;
    if (tables > 1) return answer(200, { statement_id: 's2', status: { state: 'SUCCEEDED' } });
    const error = { error_code: 'BAD_REQUEST', message: '[TABLE_OR_VIEW_ALREADY_EXISTS] it already exists' };
    return answer(200, { statement_id: 's0', status: { state: 'FAILED', error } });
  };
  const { output, failure } = await run(
    `
    local client = require("databricks").client("https://lake.example.net", "token")
    local details = { animals = { path = "s3://bucket/it's", metadata = { description = "the zoo's" } } }
    local statuses = require("svc/catalogexport/unity_exporter").register_tables(action, "_svc_tables", details, client, "w1")
    print(statuses.animals)
    print((pcall(client.register_external_table, "a b", "s3://x/y", "w1", "zoo", "main")))
    print((pcall(client.register_external_table, "ab", "x/y", "w1", "zoo", "main")))`,
    { action },
    unity,
  );
  expect(failure).toBeUndefined();
  expect(output).toBe('SUCCEEDED\nfalse\nfalse\n');
  const create = "CREATE EXTERNAL TABLE animals LOCATION 's3://bucket/it''s' COMMENT 'the zoo''s'";
  expect(asked).toEqual([
    'POST /api/2.1/unity-catalog/schemas main',
    'GET /api/2.1/unity-catalog/schemas/zoo.main',
    `POST /api/2.0/sql/statements/ ${create}`,
    'POST /api/2.0/sql/statements/ DROP TABLE animals',
    'GET /api/2.0/sql/statements/s1',
    `POST /api/2.0/sql/statements/ ${create}`,
  ]);
});
