import { expect, test } from 'vitest';
import { run } from '../../../test/run-lua.ts';
import type { HostAnswer, HostCall } from '../worker-protocol.ts';

const descriptor = `
name: animals
type: hive
path: tables/animals
partition_columns: ['type', 'weight']
schema:
  type: struct
  fields:
    - {name: weight, type: integer, nullable: false, metadata: {}}
    - {name: name, type: string, nullable: false, metadata: {}, comment: what it is called}
    - {name: type, type: string, nullable: true, metadata: {}}
`;

const sizes: Readonly<Record<string, number>> = {
  'tables/animals/': 0,
  'tables/animals/_hidden/x.csv': 3,
  'tables/animals/type=cat/weight=1/': 0,
  'tables/animals/type=cat/weight=1/a.csv': 5,
  'tables/animals/type=cat/weight=1/b.csv': 5,
  'tables/animals/type=cat/weight=1/_b.crc': 1,
  'tables/animals/type=dog/weight=2/c.csv': 5,
  'tables/animals/type=dog/stray.csv': 5,
};

/** A repository of these objects, two to a page. */
function repository(call: HostCall): HostAnswer {
  const answer = (value: unknown, status = 200): HostAnswer => ({
    status,
    statusText: '',
    rawHeaders: [],
    body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
  });
  if (call.kind !== 'api') return { error: 'only the service is asked' };
  const { path = '', prefix = '', after = '' } = call.query;
  if (!call.path.endsWith('/ls'))
    return path.startsWith('_svc_tables/') ? answer(descriptor) : answer('{}', 404);
  const listed = [
    ...Object.keys(sizes),
    '_lakefs_tables/old.yaml',
    '_svc_tables/animals.yaml',
    '_svc_tables/_x.yaml',
  ];
  const left = listed
    .filter((name) => name.startsWith(prefix) && name > after)
    .toSorted((a, b) => (a < b ? -1 : 1));
  const page = left.slice(0, 2);
  return answer({
    pagination: { has_more: left.length > 2, next_offset: page.at(-1) ?? '' },
    results: page.map((name) => ({
      path: name,
      path_type: 'object',
      physical_address: `s3://data/${name}`,
      size_bytes: sizes[name] ?? 1,
      checksum: 'c',
    })),
  });
}

const action = {
  event_type: 'post-commit',
  repository_id: 'repo',
  branch_id: 'main',
  commit_id: '0123456789abcdef',
  tag_id: '',
  storage_namespace: 's3://bucket/ns',
};

test('a symlink file for each partition of a table, without what is hidden and markers', async () => {
  const { output, failure } = await run(
    `
    local exporter = require("lakefs/catalogexport/symlink_exporter")
    assert(exporter == require("svc/catalogexport/symlink_exporter"))
    local result = exporter.export_s3(nil, "_svc_tables/animals.yaml", action, {
      writer = function(bucket, key, data) print(bucket .. " " .. key) print(data) end,
    })
    print(result.location.protocol, result.location.bucket, result.location.key)
    local found = require("lakefs/catalogexport/table_extractor").list_table_descriptor_entries(require("svc"), "repo", "main")
    for _, entry in ipairs(found) do print(entry.path) end
    `,
    { action },
    repository,
  );
  expect(failure).toBeUndefined();
  const prefix = 'ns/_svc/exported/main/012345/';
  expect(output).toBe(
    `bucket ${prefix}animals/type=cat/weight=1/symlink.txt\n` +
      's3://data/tables/animals/type=cat/weight=1/a.csv\ns3://data/tables/animals/type=cat/weight=1/b.csv\n\n' +
      `bucket ${prefix}animals/type=dog/weight=2/symlink.txt\ns3://data/tables/animals/type=dog/weight=2/c.csv\n\n` +
      `s3\tbucket\t${prefix}\n_svc_tables/animals.yaml\n_lakefs_tables/old.yaml\n`,
  );
});

test('a Glue table is made from a descriptor', async () => {
  const { output, failure } = await run(
    `
    local glue = {
      get_table = function(db, name) print("get", db, name) return "", false end,
      create_table = function(db, text) print("create", db, text) end,
      create_database = function(db, options) print("database", db, options.error_on_already_exists) end,
    }
    require("svc/catalogexport/glue_exporter").export_glue(glue, "db", "_svc_tables/animals.yaml",
      {StorageDescriptor={InputFormat="text"}}, action, {create_db_input={}})
    `,
    { action },
    repository,
  );
  expect(failure).toBeUndefined();
  const [database, get, create = ''] = output.split('\n');
  expect(database).toBe('database\tdb\tfalse');
  expect(get).toBe('get\tdb\tanimals_repo_main_012345');
  expect(JSON.parse(create.split('\t')[2] ?? '')).toEqual({
    Name: 'animals_repo_main_012345',
    TableType: 'EXTERNAL_TABLE',
    PartitionKeys: [
      { Name: 'type', Type: 'string' },
      { Name: 'weight', Type: 'int' },
    ],
    StorageDescriptor: {
      InputFormat: 'text',
      Columns: [{ Name: 'name', Type: 'string', Comment: 'what it is called' }],
      Location: 's3://bucket/ns/_svc/exported/main/012345/animals',
    },
  });
});

test('modules can be replaced under either name', async () => {
  const { output, failure } = await run(
    `
    package.loaded["lakefs/catalogexport/hive"] = { extract_partition_pager = "mine" }
    print(require("svc/catalogexport/hive").extract_partition_pager, pcall(require, "svc/catalogexport/nope"))
    `,
  );
  expect(failure).toBeUndefined();
  expect(output).toMatch(/^mine\tfalse\t.*module 'svc\/catalogexport\/nope' not found/);
});
