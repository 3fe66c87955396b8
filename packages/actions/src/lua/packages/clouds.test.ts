import { createHmac, createVerify, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { run } from '../../../test/run-lua.ts';
import type { HostAnswer, HostCall, HttpCall } from '../worker-protocol.ts';

const answer = (status: number, body = ''): HostAnswer => ({
  status,
  statusText: '',
  rawHeaders: [],
  body: Buffer.from(body),
});

function askedOver(calls: HttpCall[], give: (call: HttpCall) => HostAnswer) {
  return (call: HostCall): HostAnswer => {
    if (call.kind !== 'http') return { error: 'only the network is asked' };
    calls.push(call);
    return give(call);
  };
}

test('the blob client signs its requests, and missing blobs are no error', async () => {
  const calls: HttpCall[] = [];
  const key = Buffer.from('the key of the account').toString('base64');
  const { output, failure } = await run(
    `
    local azure = require("azure")
    local client = azure.blob_client("acct", args.key)
    client.put_object("box/a b/ü", "data")
    print(client.get_object("box/a b/ü"))
    print(client.get_object("box/nope"))
    print((pcall(client.get_object, "nobox/x")))
    client.delete_object("box/a b/ü")
    print(azure.abfss_transform_path("https://acct.blob.core.windows.net/box/p/q"))
    print((pcall(azure.abfss_transform_path, "https://example.net/box/p")))`,
    { args: { key } },
    askedOver(calls, ({ method, url }) => {
      if (url.includes('nobox')) return answer(404, '<Error><Code>ContainerNotFound</Code></Error>');
      if (url.includes('nope')) return answer(404, '<Error><Code>BlobNotFound</Code></Error>');
      return method === 'GET' ? answer(200, 'data') : answer(method === 'PUT' ? 201 : 202);
    }),
  );
  expect(failure).toBeUndefined();
  expect(output).toBe('data\ttrue\n\tfalse\nfalse\nabfss://box@acct.dfs.core.windows.net/p/q\nfalse\n');
  const [put] = calls;
  expect(put).toMatchObject({
    method: 'PUT',
    url: 'https://acct.blob.core.windows.net/box/a%20b/%C3%BC',
    body: 'data',
  });
  const headers = put?.headers ?? {};
  const date = String(headers['x-ms-date']);
  const version = String(headers['x-ms-version']);
  const text = [
    'PUT\n\n\n4\n\n\n\n\n\n\n\n',
    'x-ms-blob-type:BlockBlob',
    `x-ms-date:${date}`,
    `x-ms-version:${version}`,
    '/acct/box/a%20b/%C3%BC',
  ].join('\n');
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');
  expect(headers['authorization']).toBe(`SharedKey acct:${signature}`);
});

test('symlinks for gcsfuse are empty objects with their target in the metadata', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const calls: HttpCall[] = [];
  const account = JSON.stringify({
    client_email: 'hook@example.net',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: 'https://tokens.example.net/token',
  });
  const { output, failure } = await run(
    `
    local gs = require("gcloud").gs_client(args.account)
    gs.write_fuse_symlink("gs://data/ns/x", "gs://links/a/b", {from = "gs://data", to = "/mnt/data/"})
    gs.write_fuse_symlink("gs://data/ns/y", "gs://links/c")
    print((pcall(gs.write_fuse_symlink, "x", "s3://no")), (pcall(require("gcloud").gs_client, "no JSON")))`,
    { args: { account } },
    askedOver(calls, ({ url }) =>
      url.startsWith('https://tokens.') ? answer(200, '{"access_token":"t1"}') : answer(200, '{}'),
    ),
  );
  expect(failure).toBeUndefined();
  expect(output).toBe('false\tfalse\n');
  expect(calls.map(({ url }) => new URL(url).pathname)).toEqual([
    '/token',
    '/upload/storage/v1/b/links/o',
    '/upload/storage/v1/b/links/o',
  ]);
  const [head, claims, signature] = (new URLSearchParams(calls[0]?.body).get('assertion') ?? '').split('.');
  const isSigned = createVerify('RSA-SHA256')
    .update(`${head ?? ''}.${claims ?? ''}`)
    .verify(publicKey, signature ?? '', 'base64url');
  expect(isSigned).toBe(true);
  expect(JSON.parse(Buffer.from(claims ?? '', 'base64url').toString())).toMatchObject({
    iss: 'hook@example.net',
    aud: 'https://tokens.example.net/token',
  });
  expect(calls[1]?.headers['authorization']).toBe('Bearer t1');
  expect(calls[1]?.body).toContain('{"name":"a/b","metadata":{"gcsfuse_symlink_target":"/mnt/data/ns/x"}}');
  expect(calls[2]?.body).toContain('"gcsfuse_symlink_target":"gs://data/ns/y"');
});
