import { waitUntil } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  admin,
  apiProbe,
  contractRows,
  gatewayProbe,
  manage,
  newUser,
  prepare,
  withFacts,
  withParams,
  type Facts,
  type Key,
} from './authorization-matrix-support.ts';
import { gatewayMatrix, type GatewayRow } from './authorization-matrix-gateway.ts';
import { matrix, type MatrixRow } from './authorization-matrix-table.ts';
import { startSvc, type Answer, type RunningSvc } from './start-server.ts';

const marker = 'the bytes that one user must never see';
const secretPath = 'secret/x';
/** Whoever manages users could lift the denial, so that this is all but managing users. */
const services = ['fs', 'ci', 'retention', 'branches', 'pr', 'catalog'];

/** Puts the denied object in place of what the rows name. */
function aimed<T>(row: T, address: string): T {
  return JSON.parse(
    JSON.stringify(row)
      .replaceAll('{outside}', () => JSON.stringify(address).slice(1, -1))
      .replaceAll(/dir\/a(?=["?])/g, secretPath),
  ) as T;
}

describe('whoever may do everything but read one path', () => {
  let server: RunningSvc;
  let facts: Facts;
  let almost: Key;
  let root: string;
  let address: string;
  let tree: string;

  beforeAll(async () => {
    server = await startSvc(['--quickstart'], {
      SVC_BLOCKSTORE_LOCAL_IMPORT_ENABLED: 'true',
      SVC_SERVER_WORKERS: '1',
      SVC_DATABASE_LOCAL_SYNC_WRITES: 'false',
    });
    facts = await prepare(server, '/nowhere');
    await manage(server, 'POST', '/repositories', { name: 'repo2', storage_namespace: 'local://repo2' });
    for (const branch of ['main', 'dev']) {
      const path = encodeURIComponent(secretPath);
      await manage(server, 'POST', `/repositories/repo1/branches/${branch}/objects?path=${path}`, marker);
      await manage(server, 'POST', `/repositories/repo1/branches/${branch}/commits`, { message: 'secret' });
    }
    const stat = JSON.parse(
      await manage(server, 'GET', `/repositories/repo1/refs/main/objects/stat?path=${secretPath}`),
    ) as { physical_address: string };
    address = stat.physical_address;
    root = address.slice('local://'.length, address.indexOf('/repo1/data/'));
    const { commit_id: head } = JSON.parse(
      await manage(server, 'GET', '/repositories/repo1/branches/main'),
    ) as {
      commit_id: string;
    };
    tree = (
      JSON.parse(await manage(server, 'GET', `/repositories/repo1/commits/${head}`)) as {
        meta_range_id: string;
      }
    ).meta_range_id;
    almost = await newUser(server, 'almost');
    const statement = [
      { effect: 'allow', action: services.map((service) => `${service}:*`), resource: '*' },
      {
        effect: 'deny',
        action: ['fs:ReadObject'],
        resource: `arn:svc:fs:::repository/repo1/object/${secretPath}`,
      },
    ];
    await manage(server, 'POST', '/auth/policies', { id: 'almost', statement });
    await manage(server, 'PUT', '/auth/users/almost/policies/almost');
  });
  afterAll(() => server.stop());

  function call(method: string, path: string, body?: unknown, as: Key = almost): Promise<Answer> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const pair = Buffer.from(`${as.accessKeyId}:${as.secretAccessKey}`).toString('base64');
    return server.request(`/api/v1/repositories/${path}`, {
      method,
      headers: {
        authorization: `Basic ${pair}`,
        ...(text === ''
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      },
      ...(text === '' ? {} : { body: text }),
    });
  }

  function create(body: object, bare: boolean): Promise<Answer> {
    const pair = Buffer.from(`${almost.accessKeyId}:${almost.secretAccessKey}`).toString('base64');
    return server.request(`/api/v1/repositories?bare=${bare}`, {
      method: 'POST',
      headers: { authorization: `Basic ${pair}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  /** What of everything there is the user can read as the denied bytes. */
  async function leaks(): Promise<string[]> {
    const found: string[] = [];
    const listed = async (path: string): Promise<Record<string, string>[]> =>
      (JSON.parse(await manage(server, 'GET', path)) as { results: Record<string, string>[] }).results;
    for (const { id: repository = '' } of await listed('/repositories?amount=1000')) {
      const refs = new Set<string>();
      for (const { id = '' } of await listed(`/repositories/${repository}/branches?amount=1000`)) {
        refs.add(id);
        for (const each of await listed(`/repositories/${repository}/refs/${id}/commits?amount=1000`))
          refs.add(each['id'] ?? '');
      }
      for (const ref of refs) {
        for (const { path = '' } of await listed(
          `/repositories/${repository}/refs/${ref}/objects/ls?amount=1000`,
        )) {
          const read = await call(
            'GET',
            `${repository}/refs/${ref}/objects?path=${encodeURIComponent(path)}`,
          );
          if (read.body.includes(marker)) found.push(`${repository}/${ref}/${path}`);
        }
      }
    }
    return found;
  }

  /** An import that was let in, to its end. */
  async function ended(repository: string, answer: Answer): Promise<void> {
    if (answer.status !== 202) return;
    const { id } = JSON.parse(answer.body) as { id: string };
    await waitUntil(async () => {
      const status = JSON.parse((await call('GET', `${repository}/branches/main/import?id=${id}`)).body) as {
        completed: boolean;
        error?: object;
      };
      return status.completed || status.error !== undefined;
    });
  }

  function spellings(): string[] {
    const relative = address.slice(address.indexOf('/data/'));
    return [
      address,
      `local://repo1${relative}`,
      `local://${root}/repo2/../repo1${relative}`,
      `local://${root}//repo1${relative}`,
      `LOCAL://${root}/repo1${relative}`,
      relative.slice(1),
      `../repo1${relative}`,
    ];
  }

  test('reads what is not denied, and only that', async () => {
    expect((await call('GET', 'repo1/refs/main/objects?path=dir%2Fa')).body).toBe('"content"');
    expect((await call('GET', `repo1/refs/main/objects?path=${secretPath}`)).status).toBe(401);
    expect(await leaks()).toStrictEqual([]);
  });

  test('gets nothing of it by any operation', async () => {
    const problems: string[] = [];
    for (const given of spellings()) {
      for (const [name, operation] of contractRows()) {
        // Only these speak of an address; the others are tried once.
        if (given !== address && !JSON.stringify(matrix[name]).includes('{outside}')) continue;
        const row = withParams(withFacts(aimed(matrix[name] as MatrixRow, given), facts), facts);
        const outcome = await apiProbe(name, operation, row, server).send(almost);
        if (outcome.body.includes(marker)) problems.push(`${name} shows it`);
        if (outcome.status >= 500 && outcome.status !== 501)
          problems.push(`${name}: ${outcome.status} ${outcome.body}`);
      }
    }
    for (const [name, row] of Object.entries(gatewayMatrix)) {
      const turned = JSON.parse(JSON.stringify(row).replaceAll('dir/a', secretPath)) as GatewayRow;
      const outcome = await gatewayProbe(name, turned, server).send(almost);
      if (outcome.body.includes(marker)) problems.push(`s3 ${name} shows it`);
      if (outcome.status >= 500 && outcome.status !== 501) problems.push(`s3 ${name}: ${outcome.status}`);
    }
    expect(problems).toStrictEqual([]);
    expect(await leaks()).toStrictEqual([]);
  });

  test('cannot give its address another name, in its repository or another', async () => {
    for (const repository of ['repo1', 'repo2']) {
      for (const given of spellings()) {
        const data = { checksum: 'c', size_bytes: marker.length };
        const attempts = {
          stage: await call('PUT', `${repository}/branches/main/objects?path=mine`, {
            physical_address: given,
            ...data,
          }),
          link: await call('PUT', `${repository}/branches/main/staging/backing?path=mine`, {
            staging: { physical_address: given },
            ...data,
          }),
          import: await call('POST', `${repository}/branches/main/import`, {
            paths: [{ type: 'object', path: given, destination: 'mine' }],
            commit: { message: 'm' },
          }),
        };
        await ended(repository, attempts.import);
        for (const [name, { status }] of Object.entries(attempts)) {
          if (name === 'import' && status === 202) continue;
          expect([name, given, status]).toStrictEqual([name, given, status === 403 ? 403 : 400]);
        }
      }
    }
    expect(await leaks()).toStrictEqual([]);
  });

  test('cannot import around it', async () => {
    const sources = [
      'local://r',
      'local://re',
      'local://repo',
      'local://repo1',
      'local://repo1/',
      'local://repo1/data/',
    ];
    for (const path of [
      ...sources,
      `local://${root}`,
      `local://${root}/`,
      `local://${root}/re`,
      `local://${root}/repo1/`,
    ]) {
      const answer = await call('POST', 'repo2/branches/main/import', {
        paths: [{ type: 'common_prefix', path, destination: 'mine' }],
        commit: { message: 'm' },
      });
      await ended('repo2', answer);
    }
    expect(await leaks()).toStrictEqual([]);
  });

  test('cannot mount, record, restore, copy or build upon it', async () => {
    const record = {
      commit_id: 'f'.repeat(64),
      version: 1,
      committer: 'c',
      message: 'm',
      metarange_id: tree,
      creation_date: 1,
      parents: [],
      generation: 1,
    };
    const copy = { src_path: secretPath, src_ref: 'main' };
    const attempts: [string, string, unknown][] = [
      ['POST', `repo1/branches/dev/commits?source_metarange=${tree}`, { message: 'm' }],
      ['POST', `repo2/branches/main/commits?source_metarange=${tree}`, { message: 'm' }],
      [
        'POST',
        `repo2/branches/main/commits?source_metarange=..%2F..%2Frepo1%2F_svc%2F${tree}`,
        { message: 'm' },
      ],
      ['POST', 'repo1/commits', record],
      ['POST', 'repo2/commits', { ...record, metarange_id: `../../repo1/_svc/${tree}` }],
      ['POST', 'repo1/branches/main/objects/copy?dest_path=mine', copy],
      ['GET', `repo1/refs/main/objects?path=${secretPath}&presign=true`, undefined],
      ['GET', `repo2/metadata/object/range/..%2F..%2Frepo1%2F_svc%2F${tree}`, undefined],
    ];
    for (const [method, path, body] of attempts) {
      const { status } = await call(method, path, body);
      expect([path, status]).toStrictEqual([
        path,
        expect.toSatisfy((code: number) => code >= 400 && code < 500),
      ]);
    }
    for (const storage_namespace of [
      'local://repo1',
      'local://repo1/data',
      address,
      `local://${root}/repo1`,
    ]) {
      const made = await create({ name: 'on-top', storage_namespace }, true);
      expect([storage_namespace, made.status]).toStrictEqual([storage_namespace, 400]);
    }
    expect(await leaks()).toStrictEqual([]);
  });

  test('while others with the right to read it all may give it a name', async () => {
    const staged = await call(
      'PUT',
      'repo2/branches/main/objects?path=copied',
      { physical_address: address, checksum: 'c', size_bytes: Buffer.byteLength(JSON.stringify(marker)) },
      admin,
    );
    expect(staged.status).toBe(201);
    // Its path is another now, and so are the permissions on it: what the sweep looks for can be found.
    expect(await leaks()).toStrictEqual(['repo2/main/copied']);
    await manage(server, 'DELETE', '/repositories/repo2/branches/main/objects?path=copied');
  });

  test('gains nothing by deleting its repository', async () => {
    expect((await call('DELETE', 'repo1')).status).toBe(204);
    const staged = { physical_address: address, checksum: 'c', size_bytes: marker.length };
    expect((await call('PUT', 'repo2/branches/main/objects?path=mine', staged)).status).toBe(403);
    for (const bare of [false, true]) {
      const heir = { name: 'heir', storage_namespace: 'local://repo1' };
      expect((await create(heir, bare)).status).toBe(403);
    }
    expect(await leaks()).toStrictEqual([]);
  });
});
