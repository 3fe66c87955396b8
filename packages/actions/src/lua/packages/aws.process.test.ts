import { randomUUID } from 'node:crypto';
import { allButLinkLocal, Outgoing } from '@svc/outgoing';
import { testServerOrSkip, type S3Server } from '@svc/testing';
import { afterAll, expect, test } from 'vitest';
import { LuaRunner } from '../lua-runner.ts';

const memoryBytes = 64 * 1024 ** 2;
const runner = new LuaRunner({ memoryBytes, netHttpEnabled: false, maxRunning: 1 });
const outgoing = new Outgoing({ rule: allButLinkLocal('actions.allowed_networks') });
afterAll(() => runner.close());
const [store, catalog] = await Promise.all([testServerOrSkip('versitygw'), testServerOrSkip('moto')]);

/** The lines a script prints that speaks with a store. */
async function lines(script: string, server: S3Server | undefined): Promise<string[]> {
  const printed: Buffer[] = [];
  await runner.run(() => ({
    job: {
      source: Buffer.from(script).toString('latin1'),
      args: {
        key: server?.accessKeyId,
        secret: server?.secretAccessKey,
        region: server?.region,
        endpoint: server?.endpoint,
      },
      action: {},
      username: 'ada',
      deadline: undefined,
      outputLimit: 1024 ** 2,
      exportPrefix: '',
    },
    signal: new AbortController().signal,
    answer: async (call, signal) => {
      if (call.kind !== 'http') return { error: 'only the store is asked' };
      const body = call.body === undefined ? undefined : Buffer.from(call.body, 'latin1');
      return outgoing.send({ ...call, body, signal, maxAnswerBytes: 1024 ** 2, maxRedirects: 0 });
    },
    print: (bytes) => printed.push(Buffer.from(bytes)),
  }));
  return Buffer.concat(printed).toString().split('\n');
}

test.skipIf(store === undefined)('the S3 client speaks with a real store', async () => {
  const script = `
    local s3 = require("aws").s3_client(args.key, args.secret, args.region, args.endpoint)
    s3.put_object("hook-exports", "", "") -- makes the bucket
    for _, key in ipairs({"a/1", "a/b c", "a/ü&<>", "b", "z"}) do s3.put_object("hook-exports", key, "\\0" .. key) end
    print(#s3.get_object("hook-exports", "a/b c"), s3.get_object("hook-exports", "nope"))
    local page = s3.list_objects("hook-exports")
    for _, entry in ipairs(page.results) do print(entry.type, entry.key, entry.size) end
    s3.delete_object("hook-exports", "z")
    s3.delete_recursive("hook-exports", "a/")
    for _, entry in ipairs(s3.list_objects("hook-exports").results) do print(entry.key) end
    print(pcall(s3.get_object, "no-such-bucket", "x"))
  `;
  expect(await lines(script, store)).toEqual([
    '6\t\tfalse',
    'object\tz\t2',
    'object\tb\t2',
    'prefix\ta/\tnil',
    'b',
    expect.stringMatching(/^false\t.*NoSuchBucket/),
    '',
  ]);
});

test.skipIf(catalog === undefined)('the Glue client speaks with a server of its kind', async () => {
  // Other suites keep databases on the same server.
  const lake = `lake_${randomUUID()}`;
  const script = `
    local glue = require("aws").glue_client(args.key, args.secret, args.region, args.endpoint)
    glue.create_database("${lake}")
    print((pcall(glue.create_database, "${lake}")), (pcall(glue.create_database, "${lake}", {error_on_already_exists=false})))
    print(glue.get_table("${lake}", "t"))
    glue.create_table("${lake}", '{"Name":"t","StorageDescriptor":{"Columns":[{"Name":"a","Type":"int"}]}}')
    local found, exists = glue.get_table("${lake}", "t")
    print(exists, found.Table.StorageDescriptor.Columns[1].Name)
    glue.update_table("${lake}", '{"Name":"t","StorageDescriptor":{"Columns":[{"Name":"b","Type":"int"}]}}')
    print(glue.get_table("${lake}", "t").Table.StorageDescriptor.Columns[1].Name)
    glue.delete_table("${lake}", "t")
    glue.delete_database("${lake}")
  `;
  expect(await lines(script, catalog)).toEqual(['false\ttrue', '\tfalse', 'true\ta', 'b', '']);
});
