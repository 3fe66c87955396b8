import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { commitId, timestampFromSeconds } from '@svc/encoding';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import {
  admin,
  apiProbe,
  contractRows,
  gatewayProbe,
  prepare,
  withFacts,
  withParams,
  type Probe,
} from './authorization-matrix-support.ts';
import { gatewayMatrix, type GatewayRow } from './authorization-matrix-gateway.ts';
import { matrix, type MatrixRow } from './authorization-matrix-table.ts';
import { quickstartAuth, startSvc } from './start-server.ts';

const marker = 'a file that is none of the objects';
const lanes = 8;

/** Names, ids and addresses that would lead out of a folder, if anybody let them. */
function hostileValues(outside: string): string[] {
  return [
    '../../../../../sentinel',
    `${outside}/sentinel`,
    `local://${outside}/sentinel`,
    'local://../../../sentinel',
    // As long as an id.
    `${'../'.repeat(18)}dev/zero`.padEnd(64, '/'),
    '..',
    'a\u0000b',
  ];
}

/** What is no name of anything; secrets would be looked for in the logs. */
const kept = ['secret_access_key', 'token', 'newPassword'];

/** Every variant of a value in which one text is replaced. */
function* turned(value: unknown, by: string): Generator {
  if (typeof value === 'string') yield by;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (kept.includes(key)) continue;
    for (const other of turned(part, by)) {
      yield Array.isArray(value)
        ? value.map((each: unknown, index) => (String(index) === key ? other : each))
        : { ...value, [key]: other };
    }
  }
}

/** Everything in a folder with its content and time, without what the service keeps there. */
function snapshot(folder: string, own: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (own.includes(path)) found[path] = 'ours';
    else if (entry.isDirectory()) Object.assign(found, { [path]: 'folder' }, snapshot(path, own));
    else found[path] = `${statSync(path).mtimeMs} ${readFileSync(path, 'utf8')}`;
  }
  return found;
}

test('no id, name or address that a caller brings leads out of the folders of the service', async () => {
  const outside = tempDir('hostile');
  const home = join(outside, 'home');
  mkdirSync(home);
  for (const folder of [outside, home]) writeFileSync(join(folder, 'sentinel'), marker);
  const server = await startSvc(
    ['--quickstart'],
    {
      SVC_BLOCKSTORE_LOCAL_IMPORT_ENABLED: 'true',
      SVC_SERVER_WORKERS: '1',
      SVC_DATABASE_LOCAL_SYNC_WRITES: 'false',
    },
    home,
  );
  const agent = new Agent({ keepAlive: true, maxSockets: lanes });
  const request = server.request.bind(server);
  server.request = (path, options) => request(path, { agent, ...options });
  const facts = await prepare(server, '/nowhere');
  const own = readdirSync(home)
    .filter((name) => name !== 'sentinel')
    .map((name) => join(home, name));
  const before = snapshot(outside, own);
  const probes: { readonly probe: Probe; readonly hostile: unknown }[] = [];
  for (const value of hostileValues(outside)) {
    for (const [name, operation] of contractRows()) {
      const row = withParams(withFacts(matrix[name] as MatrixRow, facts), facts);
      const used = Object.entries(row.params ?? {}).filter(([each]) => operation.path.includes(`{${each}}`));
      const { requires, query, body } = row;
      for (const variant of turned({ params: Object.fromEntries(used), query, body }, value)) {
        const hostile = { ...(variant as object), requires } as MatrixRow;
        probes.push({ probe: apiProbe(name, operation, hostile, server), hostile: variant });
      }
    }
    for (const [name, row] of Object.entries(gatewayMatrix)) {
      const encoded = encodeURIComponent(value);
      const hostile = JSON.parse(
        JSON.stringify(row)
          .replaceAll(/dir\/(?:a|s3|gone)/g, encoded)
          .replaceAll('no-such-upload', encoded)
          .replaceAll('prefix=ma', `prefix=${encoded}`),
      ) as GatewayRow;
      probes.push({ probe: gatewayProbe(name, hostile, server), hostile });
    }
  }
  expect(probes.length).toBeGreaterThan(1500);
  const problems: string[] = [];
  const note = (name: string, hostile: unknown, { status, body }: { status: number; body: string }): void => {
    const about = `${name} ${JSON.stringify(hostile)}`;
    if (body.includes(marker)) problems.push(`${about} shows a file`);
    if (status >= 500 && status !== 501) problems.push(`${about}: ${status} ${body}`);
  };
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let next = probes.shift(); next !== undefined; next = probes.shift()) {
        note(next.probe.name, next.hostile, await next.probe.send(admin));
      }
    }),
  );
  // A record whose id is right, so that nothing but its tree can be wrong.
  for (const metarange_id of hostileValues(outside)) {
    const record = { committer: 'c', message: 'm', parents: [], metadata: {}, version: 1, generation: 1 };
    const id = commitId({ ...record, metaRangeId: metarange_id, creationDate: timestampFromSeconds(1) });
    const send = (method: string, path: string, body?: object) =>
      server.request(`/api/v1/repositories/repo1/${path}`, {
        method,
        headers: { authorization: quickstartAuth, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const made = await send('POST', 'commits', { ...record, commit_id: id, metarange_id, creation_date: 1 });
    note('record', metarange_id, made);
    expect([metarange_id, made.status]).toStrictEqual([metarange_id, 400]);
    expect((await send('GET', `commits/${id}`)).status).toBe(404);
    note('list', metarange_id, await send('GET', `refs/${id}/objects/ls`));
  }
  expect(problems).toStrictEqual([]);
  agent.destroy();
  expect((await server.stop()).code).toBe(0);
  expect(snapshot(outside, own)).toStrictEqual(before);
});
