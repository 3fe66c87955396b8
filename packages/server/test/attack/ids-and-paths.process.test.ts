import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitId } from '@svc/encoding';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { AttackedServer } from './attacked-server.ts';

let attacked: AttackedServer;
/** Files beside the stores that no request may reach. */
let bystanders: string[];

beforeAll(async () => {
  attacked = await AttackedServer.start();
  const { home } = attacked.server;
  bystanders = [join(home, 'bystander'), join(home, 'cache', 'bystander'), join(home, 'kv', 'bystander')];
  for (const file of bystanders) writeFileSync(file, attacked.target.secrets[0] ?? '');
  await attacked.remember();
});
afterEach(async () => {
  for (const file of bystanders) expect([file, existsSync(file)]).toEqual([file, true]);
  await attacked.expectUnharmed();
});
afterAll(() => attacked.server.stop());

/** Ways out of a folder, as text. */
const ways = [
  '../bystander',
  '../../bystander',
  '../../../../bystander',
  '..%2f..%2fbystander',
  '..\\..\\bystander',
  '/etc/passwd',
  '....//....//bystander',
  '.',
  '..',
  '\u0000',
  `../${'f'.repeat(61)}`,
  'F'.repeat(64),
  `${'f'.repeat(64)}/../../bystander`,
];

const encoded = (text: string): string => encodeURIComponent(text);

test.each([
  ['a stored range', (way: string) => `/repositories/hers/metadata/object/range/${encoded(way)}`],
  ['a stored metarange', (way: string) => `/repositories/hers/metadata/object/meta_range/${encoded(way)}`],
  ['a commit', (way: string) => `/repositories/hers/commits/${encoded(way)}`],
  ['a run', (way: string) => `/repositories/hers/actions/runs/${encoded(way)}`],
  ['a pull request', (way: string) => `/repositories/hers/pulls/${encoded(way)}`],
  ['an import', (way: string) => `/repositories/hers/branches/main/import?id=${encoded(way)}`],
  ['a dump', (way: string) => `/repositories/hers/dump?task_id=${encoded(way)}`],
  ['a restore', (way: string) => `/repositories/hers/restore?task_id=${encoded(way)}`],
  ['a repository', (way: string) => `/repositories/${encoded(way)}`],
  ['a ref', (way: string) => `/repositories/hers/refs/${encoded(way)}/objects/ls`],
  ['a tag', (way: string) => `/repositories/hers/tags/${encoded(way)}`],
  ['an object', (way: string) => `/repositories/hers/refs/main/objects?path=${encoded(way)}`],
])('the id of %s leads nowhere else', async (_kind, path) => {
  for (const way of ways) {
    const { status } = await attacked.call('GET', path(way), { as: attacked.mallory });
    expect([400, 401, 404, 410, 501], way).toContain(status);
  }
});

test('names of repositories, branches, tags, users, groups and policies are names', async () => {
  const { admin } = attacked.target;
  for (const way of ways.filter((each) => each !== 'F'.repeat(64))) {
    const attempts: [string, string, object][] = [
      ['POST', '/repositories', { name: way, storage_namespace: 'local://planted' }],
      ['POST', '/repositories/hers/branches', { name: way, source: 'main' }],
      ['POST', '/repositories/hers/tags', { id: way, ref: 'main' }],
      ['PUT', `/repositories/hers/branches/${encoded(way)}/hard_reset?ref=main`, {}],
    ];
    for (const [method, path, body] of attempts) {
      const { status } = await attacked.call(method, path, { as: admin, body });
      expect([400, 404], `${method} ${path} ${way}`).toContain(status);
    }
  }
  for (const id of ['../x', 'a/b', 'a\u0000b', '*', '?', '${user}', '']) {
    for (const kind of ['users', 'groups', 'policies']) {
      const statement = [{ effect: 'allow', action: ['fs:*'], resource: '*' }];
      const { status } = await attacked.call('POST', `/auth/${kind}`, { as: admin, body: { id, statement } });
      expect([400], `${kind} ${id}`).toContain(status);
    }
  }
});

test('a namespace stays in its folder and out of those of others', async () => {
  for (const namespace of [
    'local://',
    'local:///',
    'local://../kv',
    'local://x/../../kv',
    'local:///etc',
    'local://victim',
    'local://victim/',
    'local://victim/deeper',
    'local://x/../victim',
    'local://./victim',
    'local://.svc-multipart',
    'local://.svc-tmp/x',
    'local://a\u0000b',
    'file:///etc',
    's3://elsewhere/x',
    'mem://x',
    'http://127.0.0.1:1/x',
    'planted',
    '',
  ]) {
    const body = { name: 'planted', storage_namespace: namespace };
    const { status } = await attacked.call('POST', '/repositories', { as: attacked.target.admin, body });
    expect([400, 403, 409], namespace).toContain(status);
  }
});

test('keys that look like paths stay keys', async () => {
  const keys = ['../../planted', '..', './a', '/planted', 'a//../../b', '_svc/x', '.svc-tmp/x'];
  for (const key of keys) {
    const path = `/repositories/hers/branches/main/objects?path=${encoded(key)}`;
    expect((await attacked.call('POST', path, { as: attacked.mallory, body: 'mine' })).status, key).toBe(201);
    const read = `/repositories/hers/refs/main/objects?path=${encoded(key)}`;
    expect((await attacked.call('GET', read, { as: attacked.mallory })).body, key).toBe('mine');
    expect((await attacked.s3('GET', `/hers/main/${encoded(key)}`, attacked.mallory)).body, key).toBe('mine');
  }
  for (const name of ['planted', 'a', 'b', 'x'])
    expect(existsSync(join(attacked.server.home, name))).toBe(false);
  await attacked.target.manage('PUT', '/repositories/hers/branches/main', { type: 'reset' });
  // The data of what was reset stays until it is collected.
  await attacked.remember();
});

test('the pages are only the pages', async () => {
  for (const path of [
    '/../../../../etc/passwd',
    '/..%2f..%2f..%2f..%2fetc%2fpasswd',
    '/assets/../../../../etc/passwd',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets//etc/passwd',
    '/index.html%00.js',
    '/.env',
    '/config.yaml',
    '//etc/passwd',
    '/assets/',
  ]) {
    const answer = await attacked.raw(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 (200|400|404) /);
    expect(answer).not.toMatch(/root:|devDependencies|secret_key/);
  }
});

test.each(['range', 'meta_range'])('the place of a %s is told only for an id', async (kind) => {
  for (const way of ways) {
    const path = `/repositories/hers/metadata/${kind}/${encoded(way)}`;
    expect([400, 404], way).toContain((await attacked.call('GET', path, { as: attacked.mallory })).status);
  }
});

test('a commit names a tree, not a file', async () => {
  for (const way of ways) {
    const fields = {
      committer: 'mallory',
      message: 'm',
      metaRangeId: way,
      parents: [],
      metadata: {},
      version: 1,
      generation: 1,
    };
    const id = commitId({ ...fields, creationDate: { seconds: 1, nanos: 0 } });
    const body = {
      commit_id: id,
      version: 1,
      committer: 'mallory',
      message: 'm',
      metarange_id: way,
      creation_date: 1,
      parents: [],
      metadata: {},
      generation: 1,
    };
    const made = await attacked.call('POST', '/repositories/hers/commits', { as: attacked.mallory, body });
    expect([400, 404], way).toContain(made.status);
    const look = await attacked.call('GET', `/repositories/hers/refs/${id}/objects/ls`, {
      as: attacked.mallory,
    });
    expect([400, 404], way).toContain(look.status);
  }
});

test('a commit made from a tree takes only trees of its repository', async () => {
  const log = (await attacked.target.manage('GET', '/repositories/victim/refs/main/commits')) as {
    results: { meta_range_id: string }[];
  };
  for (const way of [...ways, log.results[0]?.meta_range_id ?? '']) {
    const path = `/repositories/hers/branches/main/commits?source_metarange=${encoded(way)}`;
    const made = await attacked.call('POST', path, { as: attacked.mallory, body: { message: 'm' } });
    expect([400, 403, 404], way).toContain(made.status);
  }
});

test('refs are restored from trees, not from files', async () => {
  const { manage } = attacked.target;
  await manage('POST', '/repositories?bare=true', { name: 'bare', storage_namespace: 'local://bare' });
  for (const way of ways) {
    const body = { commits_meta_range_id: way, tags_meta_range_id: way, branches_meta_range_id: way };
    const answer = await attacked.call('PUT', '/repositories/bare/refs/restore', {
      as: attacked.target.admin,
      body,
    });
    expect([400, 404], way).toContain(answer.status);
  }
  await manage('DELETE', '/repositories/bare?force=true');
  await attacked.remember();
});
