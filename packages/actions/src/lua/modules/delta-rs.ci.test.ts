import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { dataClients, orSkipReason, runCommand, tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { run } from '../../../test/run-lua.ts';
import type { HostAnswer, HostCall } from '../worker-protocol.ts';

const python = await orSkipReason('the data clients', dataClients);

const writes = `
import sys
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
table = sys.argv[1]
rows = lambda start: pa.table({"n": list(range(start, start + 4)), "kind": ["a cat", "b%", "c+d", "ü"]})
write_deltalake(table, rows(0), partition_by=["kind"])
write_deltalake(table, rows(4), mode="append")
DeltaTable(table).delete("n = 1")
DeltaTable(table).create_checkpoint()
`;

const action = {
  event_type: 'post-commit',
  repository_id: 'repo',
  branch_id: 'main',
  commit_id: '0123456789abcdef',
  storage_namespace: 's3://bucket/ns',
};

test.skipIf(python === undefined)(
  'the log of a table that delta-rs wrote names every file where it lies',
  async () => {
    const folder = tempDir('svc-delta');
    const table = join(folder, 'table');
    await runCommand(python ?? '', ['-c', writes, table]);
    const files = readdirSync(table, { recursive: true, encoding: 'utf8' }).map((name) => `table/${name}`);
    const answer = (status: number, body: Uint8Array): HostAnswer => ({
      status,
      statusText: '',
      rawHeaders: [],
      body,
    });
    const json = (body: object): HostAnswer => answer(200, Buffer.from(JSON.stringify(body)));
    const repository = (call: HostCall): HostAnswer => {
      if (call.kind !== 'api') return { error: 'only the API is asked' };
      const { path, query } = call;
      const key = query['path'] ?? '';
      if (path.endsWith('/ls')) {
        const results = files.filter((name) => name.startsWith(query['prefix'] ?? '')).toSorted();
        return json({
          pagination: { has_more: false, next_offset: '' },
          results: results.map((name) => ({ path: name })),
        });
      }
      if (key.endsWith('.yaml')) return answer(200, Buffer.from('name: t\ntype: delta\npath: table\n'));
      if (!files.includes(key)) return answer(404, Buffer.from('{}'));
      if (!path.endsWith('/stat')) return answer(200, readFileSync(join(folder, key)));
      return json({ physical_address: `s3://${join(folder, key)}` });
    };
    const { output, failure } = await run(
      `
    local client = require("formats").delta_client("key", "secret")
    require("svc/catalogexport/delta_exporter").export_delta_log(action, {"t"}, function(_, key, data)
      print(data)
    end, client, "_svc_tables")`,
      { action },
      repository,
    );
    expect(failure).toBeUndefined();
    const entries = output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, { readonly path: string } | undefined>);
    const paths = entries
      .flatMap((entry) => [entry['add'], entry['remove']])
      .filter((item) => item !== undefined);
    expect(paths.length).toBeGreaterThanOrEqual(9);
    for (const { path } of paths) {
      expect(path.startsWith('s3://')).toBe(true);
      expect(existsSync(new URL(path.replace('s3://', pathToFileURL('/').href.replace(/\/$/, ''))))).toBe(
        true,
      );
    }
  },
);
