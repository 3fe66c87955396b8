import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedClient } from './checked-client.ts';
import type { Ask } from './checked-client.ts';
import { memEngine } from './mem-engine.ts';
import { authorization, basic, startApi } from './start-api.ts';
import type { RunningApi } from './start-api.ts';

let api: RunningApi;
let ask: Ask;
const base = '/repositories/place';
const commits = new Map<string, string>();

async function commit(branch: string, message: string, files: Record<string, string>): Promise<void> {
  for (const [path, body] of Object.entries(files)) {
    await ask('POST', `${base}/branches/${branch}/objects?path=${encodeURIComponent(path)}`, { body });
  }
  const made = await ask('POST', `${base}/branches/${branch}/commits`, { json: { message } });
  commits.set(message, String(made.body.id));
}

/** The client of a user who is allowed what the statements say. */
async function userWith(name: string, statement: object[]): Promise<Ask> {
  await ask('POST', '/auth/users', { json: { id: name } });
  await ask('POST', '/auth/policies', { json: { id: `of-${name}`, statement } });
  await ask('PUT', `/auth/users/${name}/policies/of-${name}`);
  const { body } = await ask('POST', `/auth/users/${name}/credentials`);
  return checkedClient(api.url, basic(String(body.access_key_id), String(body.secret_access_key)));
}

const reads = { effect: 'allow', action: ['fs:Read*', 'fs:List*'], resource: '*' };

beforeAll(async () => {
  api = await startApi(memEngine);
  ask = checkedClient(api.url);
  await ask('POST', '/repositories', { json: { name: 'place', storage_namespace: 'mem://place' } });
  await commit('main', 'one', { 'a.txt': 'a', 'data/x.csv': 'x', 'data/deep/y.csv': 'y' });
  await commit('main', 'two', { 'b.txt': 'b' });
  await ask('POST', `${base}/branches`, { json: { name: 'dev', source: 'main' } });
  await commit('dev', 'three', { 'data/deep/z.csv': 'z' });
  await commit('main', 'four', { 'a.txt': 'again' });
  await ask('POST', `${base}/refs/dev/merge/main`, { json: { message: 'five' } });
});
afterAll(() => api.stop());

test('the commit that last changed each entry of a folder is told in one answer', async () => {
  await ask('POST', `${base}/branches/main/objects?path=not-committed.txt`, { body: 'n' });
  const last = async (place: string) => {
    const { body } = await ask('GET', `${base}/refs/${place}`);
    const messages = new Map(
      (body.commits as { id: string; message: string }[]).map(({ id, message }) => [id, message]),
    );
    return Object.fromEntries(
      (body.results as { path: string; commit_id: string }[]).map((row) => [
        row.path,
        messages.get(row.commit_id),
      ]),
    );
  };
  expect(await last('main/last_commits')).toEqual({ 'a.txt': 'four', 'b.txt': 'two', 'data/': 'five' });
  expect(await last('main/last_commits?prefix=data/')).toEqual({ 'data/deep/': 'five', 'data/x.csv': 'one' });
  expect(await last('dev/last_commits?prefix=data/')).toEqual({ 'data/deep/': 'three', 'data/x.csv': 'one' });
  expect(await last('main/last_commits?amount=1')).toEqual({ 'a.txt': 'four' });
  await ask('DELETE', `${base}/branches/main/objects?path=not-committed.txt`);
});

test('how far two refs went apart is counted', async () => {
  const apart = async (left: string, right: string) =>
    (await ask('GET', `${base}/refs/${left}/divergence/${right}`)).body;
  expect(await apart('main', 'dev')).toEqual({ left: 2, right: 0 });
  expect(await apart('dev', String(commits.get('four')))).toEqual({ left: 1, right: 1 });
  expect(await apart('main~1', 'dev')).toEqual({ left: 1, right: 1 });
  expect(await apart('main', 'main')).toEqual({ left: 0, right: 0 });
  expect((await ask('GET', `${base}/refs/main/divergence/none`)).status).toBe(404);
});

test('repositories are listed with description and last commit, as far as they may be read', async () => {
  await ask('POST', `${base}/metadata`, { json: { metadata: { description: 'What is here' } } });
  const { body } = await ask('GET', '/repositories?summary=true');
  expect([body.results[0].summary.description, body.results[0].summary.last_commit.message]).toEqual([
    'What is here',
    'five',
  ]);
  expect(body.may_create).toBe(true);
  expect((await ask('GET', `${base}?summary=true`)).body.summary.description).toBe('What is here');
  expect((await ask('GET', base)).body.summary).toBeUndefined();
  await ask('POST', '/repositories?bare=true', {
    json: { name: 'bare-one', storage_namespace: 'mem://bare' },
  });
  const lister = await userWith('lister', [
    { effect: 'allow', action: ['fs:ListRepositories'], resource: '*' },
  ]);
  const seen = (await lister('GET', '/repositories?summary=true')).body;
  expect([seen.results.map(({ summary }: { summary: object }) => summary), seen.may_create]).toEqual([
    [{}, {}],
    false,
  ]);
});

test('a place tells what its caller may do there', async () => {
  const at = async (caller: Ask, place: string) =>
    (await caller('GET', `${base}/refs/${place}`)).body as { rights?: string[]; protected?: boolean };
  expect(await at(ask, 'main/resolve')).not.toHaveProperty('rights');
  const mine = await at(ask, 'main/resolve?rights=true');
  expect(mine.rights).toContain('fs:WriteObject');
  expect(mine.rights).toContain('branches:SetBranchProtectionRules');
  expect(mine.protected).toBe(false);
  await ask('PUT', `${base}/settings/branch_protection`, { json: [{ pattern: 'main' }] });
  expect((await at(ask, 'main/resolve?rights=true')).protected).toBe(true);
  expect((await at(ask, 'dev/resolve?rights=true')).protected).toBe(false);
  await ask('PUT', `${base}/settings/branch_protection`, { json: [] });

  const reader = await userWith('reader', [reads]);
  expect((await at(reader, 'main/resolve?rights=true')).rights).toEqual(['fs:ReadObject']);
  const writer = await userWith('writer', [
    reads,
    {
      effect: 'allow',
      action: ['fs:WriteObject'],
      resource: 'arn:svc:fs:::repository/place/object/data/*.csv',
    },
    {
      effect: 'allow',
      action: ['fs:CreateBranch', 'fs:CreateCommit'],
      resource: 'arn:svc:fs:::repository/place/branch/w-*',
    },
    { effect: 'deny', action: ['fs:CreateTag'], resource: '*' },
  ]);
  const rights = async (place: string) => (await at(writer, place)).rights;
  expect(await rights('main/resolve?rights=true')).toEqual([
    'fs:CreateBranch',
    'fs:ReadObject',
    'fs:WriteObject',
  ]);
  expect(await rights('main/resolve?rights=true&path=data/')).toContain('fs:WriteObject');
  expect(await rights('main/resolve?rights=true&path=other/')).not.toContain('fs:WriteObject');
  expect(await rights('main/resolve?rights=true')).not.toContain('fs:CreateCommit');
  expect(await rights('main~0/resolve?rights=true')).toContain('fs:CreateCommit');
});

/** The files of an archive, unpacked by another program. */
function unpack(archive: Buffer): Record<string, string> {
  const folder = tempDir();
  writeFileSync(join(folder, 'it.zip'), archive);
  const program =
    'import json,sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\n' +
    'print(json.dumps({n:z.read(n).decode() for n in z.namelist()}))';
  return JSON.parse(
    execFileSync('python3', ['-c', program, join(folder, 'it.zip')], { encoding: 'utf8' }),
  ) as Record<string, string>;
}

test('folders and chosen entries are read as one archive, without what may not be read', async () => {
  const archive = async (as: string, query: string) => {
    const headers = { authorization: as };
    const answer = await fetch(`${api.url}${base}/refs/main/archive${query}`, { headers });
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const whole = await archive(authorization, '');
  expect(whole.answer.headers.get('content-disposition')).toContain('filename="place.zip"');
  expect(unpack(whole.bytes)).toEqual({
    'a.txt': 'again',
    'b.txt': 'b',
    'data/deep/y.csv': 'y',
    'data/deep/z.csv': 'z',
    'data/x.csv': 'x',
  });
  const some = await archive(authorization, '?prefix=data/&path=data/deep/&path=data/x.csv');
  expect(unpack(some.bytes)).toEqual({ 'deep/y.csv': 'y', 'deep/z.csv': 'z', 'x.csv': 'x' });
  expect((await archive(authorization, '?prefix=none/')).answer.status).toBe(404);
  expect((await archive(authorization, '?prefix=data/&path=a.txt')).answer.status).toBe(400);
  await ask('POST', `${base}/branches/main/objects?path=${encodeURIComponent('up/../../x')}`, { body: 'u' });
  expect(unpack((await archive(authorization, '?prefix=up/')).bytes)).toEqual({ '_/_/x': 'u' });
  await ask('POST', `${base}/branches/main/objects?path=left/here`, { body: 'h' });
  await ask('PUT', `${base}/branches/main/objects?path=left/gone`, {
    json: { physical_address: 'mem://elsewhere/gone', checksum: 'x', size_bytes: 1 },
  });
  expect(unpack((await archive(authorization, '?prefix=left/')).bytes)).toEqual({
    here: 'h',
    'NOT-INCLUDED.txt': 'The data is gone of:\nleft/gone\n',
  });

  await ask('POST', '/auth/users', { json: { id: 'half' } });
  const statement = [
    { effect: 'allow', action: ['fs:ListObjects'], resource: '*' },
    { effect: 'allow', action: ['fs:ReadObject'], resource: 'arn:svc:fs:::repository/place/object/data/*' },
  ];
  await ask('POST', '/auth/policies', { json: { id: 'of-half', statement } });
  await ask('PUT', '/auth/users/half/policies/of-half');
  const { body } = await ask('POST', '/auth/users/half/credentials');
  const half = basic(String(body.access_key_id), String(body.secret_access_key));
  const files = unpack((await archive(half, '?path=a.txt&path=data/x.csv')).bytes);
  expect(files['data/x.csv']).toBe('x');
  expect(files['NOT-INCLUDED.txt']).toContain('a.txt');
  expect(files).not.toHaveProperty(['a.txt']);
});
