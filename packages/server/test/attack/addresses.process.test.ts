import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../start-server.ts';
import { AttackedServer, canary, secretKey } from './attacked-server.ts';

let attacked: AttackedServer;

beforeAll(async () => {
  attacked = await AttackedServer.start();
  const { home } = attacked.server;
  // Beside the folder that may be imported, with a name that begins like it.
  mkdirSync(join(home, 'outside-not-allowed'));
  writeFileSync(join(home, 'outside-not-allowed', 'data'), canary);
  symlinkSync(join(home, 'outside-not-allowed'), join(home, 'outside', 'folder-link'));
  symlinkSync(join(home, 'outside-not-allowed', 'data'), join(home, 'outside', 'file-link'));
  await attacked.remember();
});
afterEach(() => attacked.expectUnharmed());
afterAll(() => attacked.server.stop());

const path = '/repositories/hers/branches/main';

function stage(address: string): Promise<Answer> {
  const body = { physical_address: address, checksum: 'x', size_bytes: canary.length };
  return attacked.call('PUT', `${path}/objects?path=stolen`, { as: attacked.mallory, body });
}

function link(address: string): Promise<Answer> {
  const body = { staging: { physical_address: address }, checksum: 'x', size_bytes: canary.length };
  return attacked.call('PUT', `${path}/staging/backing?path=stolen`, { as: attacked.mallory, body });
}

const read = (): Promise<Answer> =>
  attacked.call('GET', '/repositories/hers/refs/main/objects?path=stolen', { as: attacked.mallory });

/** Refused at once, or useless later. */
async function expectUseless(address: string): Promise<void> {
  for (const bring of [stage, link]) {
    const { status } = await bring(address);
    if (status >= 400) continue;
    expect((await read()).status, address).not.toBe(200);
    await attacked.target.manage('DELETE', `${path}/objects?path=stolen`);
  }
}

test('files of the server are no addresses', async () => {
  const { home } = attacked.server;
  for (const file of [
    '/etc/passwd',
    '/dev/zero',
    '/proc/self/environ',
    `${home}/config.yaml`,
    `${home}/kv/data.mdb`,
    `${home}/outside-not-allowed/data`,
    `${home}/outside/../outside-not-allowed/data`,
    `${home}/outside/folder-link/data`,
    `${home}/outside/file-link`,
    `${home}/outside`,
    `${home}/blocks/.svc-multipart/x`,
  ])
    await expectUseless(`local://${file}`);
});

test('neither are other schemes, machines and texts', async () => {
  for (const address of [
    'http://127.0.0.1:1/x',
    'file:///etc/passwd',
    's3://elsewhere/x',
    'mem://x/y',
    'local://../kv/data.mdb',
    'local://victim/../../config.yaml',
    '../victim/data',
    '../../config.yaml',
    '/etc/passwd',
    'data/../../../config.yaml',
    '_svc/x',
    '\u0000',
    '',
  ])
    await expectUseless(address);
});

test('an address that was handed out is good for its object only', async () => {
  const handed = JSON.parse(
    (await attacked.call('GET', `${path}/staging/backing?path=mine`, { as: attacked.mallory })).body,
  ) as { physical_address: string };
  const theirs = (await attacked.target.manage(
    'GET',
    '/repositories/victim/branches/main/staging/backing?path=theirs',
  )) as { physical_address: string };
  for (const address of [
    theirs.physical_address,
    handed.physical_address.replace(/[^/]+$/, 'x'),
    handed.physical_address.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
    `${handed.physical_address}/../x`,
  ])
    await expectUseless(address);
});

test('what mallory may not list does not tell its addresses', async () => {
  for (const victim of [
    '/repositories/victim/refs/main/objects/ls',
    `/repositories/victim/refs/main/objects/stat?path=${encodeURIComponent(secretKey)}`,
    '/repositories/victim/refs/main/objects/underlyingProperties?path=public%2Fa',
    '/repositories/victim/branches/main/staging/backing?path=x',
  ]) {
    const answer = await attacked.call('GET', victim, { as: attacked.mallory });
    expect(answer.status).toBe(401);
    expect(answer.body).not.toContain('local://');
  }
});

test('imports read only what may be imported', async () => {
  const { home } = attacked.server;
  for (const [type, source] of [
    ['common_prefix', 'local:///etc/'],
    ['object', 'local:///etc/passwd'],
    ['common_prefix', `local://${home}/`],
    ['common_prefix', `local://${home}/kv/`],
    ['common_prefix', `local://${home}/outside-not`],
    ['common_prefix', `local://${home}/outside/folder-link/`],
    ['object', `local://${home}/outside/file-link`],
    ['common_prefix', 'local://victim/'],
    ['common_prefix', 'local://victim'],
    ['common_prefix', 'local://victim/data'],
    ['common_prefix', 'local://hers/../victim/'],
    ['common_prefix', 'local://./victim/'],
    ['common_prefix', 'http://127.0.0.1:1/'],
    ['common_prefix', ''],
  ] as const) {
    const body = {
      paths: [{ type, path: source, destination: type === 'object' ? 'stolen' : 'stolen/' }],
      commit: { message: 'stolen' },
    };
    const started = await attacked.call('POST', `${path}/import`, { as: attacked.mallory, body });
    if (started.status !== 202) {
      expect([400, 401, 403], source).toContain(started.status);
      continue;
    }
    const { id } = JSON.parse(started.body) as { id: string };
    const ended = await untilEnded(id);
    if (ended.error === undefined) expect(ended.ingested_objects, source).toBe(0);
  }
});

interface ImportStatus {
  readonly completed: boolean;
  readonly ingested_objects?: number;
  readonly error?: { readonly message: string };
}

async function untilEnded(id: string): Promise<ImportStatus> {
  for (;;) {
    const answer = await attacked.call('GET', `${path}/import?id=${id}`, { as: attacked.mallory });
    const status = JSON.parse(answer.body) as ImportStatus;
    if (status.completed || status.error !== undefined) return status;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('what is denied is not read through its address', async () => {
  const listed = JSON.parse(
    (
      await attacked.call('GET', '/repositories/victim/refs/main/objects/ls?prefix=secret%2F', {
        as: attacked.denied,
      })
    ).body,
  ) as { results: { physical_address: string }[] };
  const address = listed.results[0]?.physical_address ?? '';
  expect(address).toContain('local://');
  for (const repository of ['victim', 'hers']) {
    const branch = `/repositories/${repository}/branches/main`;
    const body = { physical_address: address, checksum: 'x', size_bytes: canary.length };
    const link = { staging: { physical_address: address }, checksum: 'x', size_bytes: canary.length };
    await attacked.call('PUT', `${branch}/objects?path=public%2Fstolen`, { as: attacked.denied, body });
    await attacked.call('PUT', `${branch}/staging/backing?path=public%2Fstolen`, {
      as: attacked.denied,
      body: link,
    });
    const read = `/repositories/${repository}/refs/main/objects?path=public%2Fstolen`;
    expect((await attacked.call('GET', read, { as: attacked.denied })).body).not.toContain(canary);
  }
});

test('an import does not reach below its source into what may not be read', async () => {
  for (const [as, source] of [
    [attacked.mallory, 'local://vic'],
    [attacked.mallory, 'local://'],
    [attacked.denied, 'local://victim/'],
    [attacked.denied, 'local://vic'],
  ] as const) {
    const body = {
      paths: [{ type: 'common_prefix', path: source, destination: 'stolen/' }],
      commit: { message: 'stolen' },
    };
    const started = await attacked.call('POST', `${path}/import`, { as, body });
    if (started.status !== 202) continue;
    const { id } = JSON.parse(started.body) as { id: string };
    const ended = await untilEnded(id);
    if (ended.error === undefined) expect(ended.ingested_objects, source).toBe(0);
  }
});
