import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedClient } from './checked-client.ts';
import type { Ask } from './checked-client.ts';
import { memEngine } from './mem-engine.ts';
import { startApi } from './start-api.ts';
import type { RunningApi } from './start-api.ts';

let api: RunningApi;
let ask: Ask;
const base = '/repositories/texts';

beforeAll(async () => {
  api = await startApi(memEngine);
  ask = checkedClient(api.url);
  await ask('POST', '/repositories', { json: { name: 'texts', storage_namespace: 'mem://texts' } });
  await ask('POST', `${base}/branches/main/objects?path=a`, { body: '1' });
  await ask('POST', `${base}/branches/main/commits`, { json: { message: 'one' } });
  await ask('POST', `${base}/branches`, { json: { name: 'dirty', source: 'main' } });
  await ask('POST', `${base}/branches/dirty/objects?path=b`, { body: '1' });
  await ask('POST', `${base}/branches`, { json: { name: 'locked', source: 'main' } });
  await ask('POST', `${base}/tags`, { json: { id: 'v1', ref: 'main' } });
  await ask('PUT', `${base}/settings/branch_protection`, { json: [{ pattern: 'locked' }] });
  await ask('POST', '/repositories', {
    json: { name: 'frozen', storage_namespace: 'mem://frozen', read_only: true },
  });
});

afterAll(() => api.stop());

const longKey = 'k'.repeat(1025);

/** What existing clients and their users know: method, path, body, status and text. */
const cases: [method: string, path: string, json: unknown, status: number, message: string | RegExp][] = [
  ['GET', '/repositories/none', undefined, 404, 'repository not found'],
  ['GET', '/repositories/UPPER', undefined, 400, /invalid value: validation error$/],
  ['GET', `${base}/branches/none`, undefined, 404, 'branch not found'],
  ['GET', `${base}/tags/none`, undefined, 404, 'tag not found'],
  ['GET', `${base}/commits/${'0'.repeat(64)}`, undefined, 404, 'commit not found'],
  ['GET', `${base}/refs/none/commits`, undefined, 404, 'ref: not found'],
  ['GET', `${base}/refs/main/commits?stop_at=none`, undefined, 404, 'stop_at: not found'],
  ['GET', `${base}/refs/main/commits?after=none`, undefined, 404, 'from ref: not found'],
  ['GET', `${base}/refs/main/objects/stat?path=none`, undefined, 404, 'not found'],
  ['GET', `${base}/refs/none/objects/stat?path=a`, undefined, 404, 'not found'],
  [
    'GET',
    `${base}/refs/main/objects/stat?path=`,
    undefined,
    400,
    'parameter "path" in query has an error: empty value is not allowed',
  ],
  [
    'GET',
    `${base}/refs/main/objects/stat`,
    undefined,
    400,
    'parameter "path" in query has an error: value is required but missing',
  ],
  [
    'GET',
    `${base}/refs/main/objects/stat?path=${longKey}`,
    undefined,
    400,
    'argument path: invalid value: validation error: 1025 is above maximum length (1024)',
  ],
  ['POST', `${base}/branches/none/objects?path=a`, undefined, 404, "branch 'none' not found"],
  ['POST', `${base}/branches/locked/objects?path=a`, undefined, 403, 'cannot write to protected branch'],
  ['POST', `${base}/branches/locked/commits`, { message: 'm' }, 403, 'cannot commit to protected branch'],
  ['PUT', `${base}/branches/locked/hard_reset?ref=main`, undefined, 403, 'protected branch'],
  ['POST', '/repositories/frozen/branches/main/objects?path=a', undefined, 403, 'read-only repository'],
  ['DELETE', '/repositories/frozen', undefined, 403, 'read-only repository'],
  ['DELETE', `${base}/branches/main`, undefined, 403, 'cannot delete repository default branch'],
  ['POST', `${base}/branches`, { name: 'dirty', source: 'main' }, 409, 'branch already exists: not unique'],
  ['POST', `${base}/branches`, { name: 'v1', source: 'main' }, 409, /^tag ID v1: conflict found$/],
  [
    'POST',
    `${base}/branches`,
    { name: '-x', source: 'main' },
    400,
    /branch id must consist of letters, digits, underscores and dashes, and cannot start with a dash$/,
  ],
  ['POST', `${base}/branches`, { name: 'x', source: 'none' }, 404, "source reference 'none': not found"],
  ['POST', `${base}/branches`, { name: '', source: 'main' }, 400, /required value: validation error/],
  ['POST', `${base}/tags`, { id: 'v1', ref: 'main' }, 409, 'tag already exists: not unique'],
  ['POST', `${base}/tags`, { id: 'a/b', ref: 'main' }, 400, /invalid value: validation error/],
  ['POST', `${base}/branches/main/commits`, { message: 'm' }, 400, 'commit: no changes'],
  ['POST', `${base}/branches/none/commits`, { message: 'm' }, 404, 'branch not found'],
  [
    'POST',
    `${base}/branches/dirty/commits?source_metarange=${'f'.repeat(64)}`,
    { message: 'm' },
    400,
    'cannot use source MetaRange on a branch with uncommitted changes',
  ],
  ['POST', `${base}/refs/main/merge/dirty`, {}, 400, /no changes|uncommitted changes/],
  ['POST', `${base}/refs/main/merge/main`, {}, 400, 'update branch main: no changes'],
  ['POST', `${base}/refs/main/merge/main@`, {}, 400, /^argument destination: branch id: /],
  [
    'POST',
    `${base}/refs/main/merge/locked`,
    { strategy: 'x' },
    400,
    /^argument strategy: invalid value: validation error/,
  ],
  [
    'PUT',
    `${base}/branches/dirty/hard_reset?ref=main`,
    undefined,
    400,
    'dirty: uncommitted changes (dirty branch)',
  ],
  ['PUT', `${base}/branches/main/hard_reset?ref=none`, undefined, 404, 'hard-reset main to none: not found'],
  [
    'PUT',
    `${base}/branches/main`,
    { type: 'object' },
    400,
    'argument path: missing path: required value: validation error',
  ],
  ['POST', `${base}/branches/main/objects/copy?dest_path=c`, { src_path: 'none' }, 404, 'not found'],
  [
    'POST',
    `${base}/branches/none/objects/copy?dest_path=c`,
    { src_path: 'a', src_ref: 'main' },
    404,
    "branch 'none' not found",
  ],
  [
    'PUT',
    `${base}/branches/main/objects?path=x`,
    { physical_address: 's3://x/y', checksum: 'c', size_bytes: 1 },
    400,
    'physical address is not valid for block adapter: mem',
  ],
  [
    'PUT',
    `${base}/branches/main/staging/backing?path=x`,
    { staging: { physical_address: 'mem://texts/data/p/x' }, checksum: 'c', size_bytes: 1 },
    400,
    'address is not signed: link address invalid',
  ],
  [
    'PUT',
    `${base}/branches/main/staging/backing?path=x`,
    { staging: { physical_address: 'mem://texts/data/p/x' }, checksum: '', size_bytes: 1 },
    400,
    'checksum is required',
  ],
  [
    'PUT',
    `${base}/branches/main/objects/stat/user_metadata?path=none`,
    { set: {} },
    404,
    'update user metadata on texts/main/none: not found',
  ],
  [
    'POST',
    `${base}/branches/main/staging/pmpu?path=x`,
    undefined,
    501,
    'presign multipart upload API is not supported',
  ],
  ['GET', `${base}/branches/main/staging/backing?path=x&presign=true`, undefined, 400, /not supported/],
  [
    'POST',
    `${base}/pulls`,
    { title: 't', source_branch: 'main', destination_branch: 'main' },
    400,
    /^source and destination branches are the same: same branch/,
  ],
  ['GET', `${base}/pulls/nonsense`, undefined, 400, /./],
  ['GET', `${base}/settings/gc_rules`, undefined, 404, 'not found'],
  ['GET', `${base}/dump?task_id=invalid`, undefined, 404, /not found/],
  [
    'POST',
    `${base}/restore`,
    { commits_meta_range_id: 'a'.repeat(64), tags_meta_range_id: '', branches_meta_range_id: '' },
    400,
    'can only restore into a bare repository',
  ],
  ['GET', `${base}/branches/main/import?id=none`, undefined, 404, /not found/],
  ['POST', `${base}/commits`, commitRecord('wrong'), 400, 'commit id: invalid value: validation error'],
  [
    'POST',
    '/repositories',
    { name: 'texts', storage_namespace: 'mem://x' },
    409,
    'error creating repository: not unique',
  ],
  [
    'POST',
    '/repositories',
    { name: 'other', storage_namespace: 's3://x' },
    400,
    'failed to match required regex ^mem://: invalid namespace',
  ],
  [
    'POST',
    '/repositories',
    { name: 'other', storage_namespace: 'mem://texts/in' },
    400,
    /^failed to create repository: .*texts/,
  ],
];

function commitRecord(id: string): object {
  return {
    commit_id: id,
    version: 1,
    committer: 'Committer',
    message: 'message',
    metarange_id: '',
    creation_date: 1_000_000_000,
    parents: ['a'.repeat(64), 'b'.repeat(64)],
    metadata: { key: 'value' },
    generation: 1,
  };
}

test.each(cases)('%s %s %j is %d', async (method, path, json, status, message) => {
  const reply = await ask(method, path, json === undefined ? {} : { json });
  expect([reply.status, reply.body.message]).toEqual([
    status,
    typeof message === 'string' ? message : expect.stringMatching(message),
  ]);
});

test('a commit record with the right id is stored once', async () => {
  const record = commitRecord('7e115345c6817cd9a839d9642254caa0a61011a7a684354cd038652ec8b5f485');
  expect((await ask('POST', `${base}/commits`, { json: record })).status).toBe(204);
  const again = await ask('POST', `${base}/commits`, { json: record });
  expect([again.status, again.body.message]).toEqual([409, 'commit already exists: not unique']);
});
