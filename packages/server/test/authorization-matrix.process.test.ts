import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requirementOf } from '@svc/api';
import type { Requirement } from '@svc/auth';
import type { RequirementTemplate } from '@svc/contract';
import { gatewayOperations } from '@svc/gateway';
import { tempDir } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  admin,
  allow,
  apiProbe,
  contractRows,
  deny,
  gatewayProbe,
  manage,
  newUser,
  prepare,
  readLeaves,
  sibling,
  widened,
  withFacts,
  withParams,
  type Facts,
  type Grant,
  type Key,
  type Leaf,
  type Outcome,
  type Probe,
} from './authorization-matrix-support.ts';
import { gatewayMatrix } from './authorization-matrix-gateway.ts';
import { defaultParams, matrix, type MatrixRow } from './authorization-matrix-table.ts';
import { startSvc, type Finished, type RunningSvc } from './start-server.ts';

const baseGroups = ['Admins', 'SuperUsers', 'Developers', 'Viewers'];
const services = ['fs', 'auth', 'ci', 'retention', 'branches', 'pr', 'catalog'];
const laneCount = 6;

describe('the table of requirements', () => {
  test('has exactly one row for every operation of the API', () => {
    expect(Object.keys(matrix).toSorted()).toStrictEqual([...contractRows().keys()].toSorted());
  });

  test('has rows for every operation of the gateway', () => {
    const rows = new Set(Object.keys(gatewayMatrix).map((name) => name.split(' ')[0]));
    // Answered by refusals only, or variants of an operation that has a row.
    const covered = new Set(['unsupported', 'noSuchObject', 'putBranchMarker']);
    const missing = Object.keys(gatewayOperations).filter((name) => !rows.has(name) && !covered.has(name));
    expect(missing).toStrictEqual([]);
  });

  test('says what the contract declares', () => {
    const facts: Facts = {
      pull: 'pull',
      commit: 'commit',
      outside: 'local:///outside/data',
      key: 'KEY',
      trash: 'x',
    };
    for (const [name, operation] of contractRows()) {
      const row = withFacts(matrix[name] as MatrixRow, facts);
      const { requires } = operation;
      if (requires.type === 'open' || requires.type === 'authenticated') {
        expect([name, row.requires]).toStrictEqual([name, requires.type === 'open' ? 'open' : 'auth']);
        continue;
      }
      const path = withFacts({ ...defaultParams, ...row.params }, facts);
      const query = { ...row.query, ...(row.query?.['update'] === 'true' ? { update: true } : {}) };
      // Only the operation knows the branch that a pull request leads to, or what a deleted repository was.
      const read = { destination: 'main', repository: 'trashed', namespace: 'local://trashed' };
      const values = { path, query, body: row.body, read };
      const required = requirementOf(undeferred(requires))(values);
      expect([name, required === undefined ? [] : flatten(required)]).toStrictEqual([
        name,
        readLeaves(row.requires),
      ]);
    }
  });
});

function undeferred(template: RequirementTemplate): RequirementTemplate {
  switch (template.type) {
    case 'deferred':
      return undeferred(template.node);
    case 'and':
    case 'or':
      return { ...template, nodes: template.nodes.filter((node) => !isOfItem(node)).map(undeferred) };
    case 'each':
      return { ...template, node: undeferred(template.node) };
    case 'choose':
      return {
        ...template,
        whenTrue: undeferred(template.whenTrue),
        otherwise: undeferred(template.otherwise),
      };
    case 'one':
    case 'soft':
      return template;
  }
}

/** Asked for each resolution of a merge; the rows have none. */
function isOfItem(template: RequirementTemplate): boolean {
  return (
    template.type === 'deferred' && template.node.type === 'one' && template.node.resource.includes('{item.')
  );
}

function flatten(requirement: Requirement): Leaf[] {
  if (requirement.type === 'and' || requirement.type === 'or') return requirement.nodes.flatMap(flatten);
  if (requirement.type !== 'one' && requirement.type !== 'soft') throw new Error('no leaf of a template');
  const { action, resource, type } = requirement;
  return [{ action, resource, soft: type === 'soft' }];
}

describe('the authorization matrix over the wire', () => {
  let server: RunningSvc;
  let probes: Probe[];
  let openProbes: { probe: Probe; row: MatrixRow }[];
  let lanes: Lane[];
  let powerless: Key;
  const members = new Map<string, Key>();
  const secrets = new Set<string>([admin.secretAccessKey]);
  let finished: Finished | undefined;

  beforeAll(async () => {
    const elsewhere = tempDir();
    server = await startSvc(['--quickstart'], {
      SVC_BLOCKSTORE_LOCAL_IMPORT_ENABLED: 'true',
      SVC_BLOCKSTORE_LOCAL_ALLOWED_EXTERNAL_PREFIXES: elsewhere,
      SVC_SERVER_WORKERS: '2',
      SVC_DATABASE_LOCAL_SYNC_WRITES: 'false',
      SVC_LOGGING_LEVEL: 'TRACE',
      SVC_LOGGING_TRACE_REQUEST_HEADERS: 'true',
      SVC_LOGGING_FORMAT: 'json',
    });
    collectSecrets(server, secrets);
    const facts = await prepare(server, elsewhere);
    const rows = [...contractRows()].map(([name, operation]) => {
      const row = withFacts(matrix[name] as MatrixRow, facts);
      return { row, probe: apiProbe(name, operation, withParams(row, facts), server) };
    });
    openProbes = rows.filter(({ row }) => row.requires === 'open');
    probes = [
      ...rows.filter(({ row }) => row.requires !== 'open').map(({ probe }) => probe),
      ...Object.entries(gatewayMatrix).map(([name, row]) => gatewayProbe(name, row, server)),
    ];
    powerless = await newUser(server, 'powerless');
    for (const group of baseGroups) {
      members.set(group, await newUser(server, `of-${group.toLowerCase()}`));
      await manage(server, 'PUT', `/auth/groups/${group}/members/of-${group.toLowerCase()}`);
    }
    lanes = [];
    for (let index = 0; index < laneCount; index++) lanes.push(await Lane.open(server, index));
  });
  afterAll(async () => {
    if (finished === undefined) await server.stop();
  });

  /** Runs a case for every row, several rows at a time, and lists what was not as expected. */
  async function everywhere(check: (probe: Probe, lane: Lane) => Promise<string[]>): Promise<string[]> {
    const queue = [...probes];
    const problems: string[] = [];
    await Promise.all(
      lanes.map(async (lane) => {
        for (let probe = queue.shift(); probe !== undefined; probe = queue.shift()) {
          for (const problem of await check(probe, lane)) problems.push(`${probe.name}: ${problem}`);
        }
      }),
    );
    return problems.toSorted();
  }

  test('open operations do not look at credentials', async () => {
    for (const { probe, row } of openProbes) {
      const answers = [await probe.send('nobody'), await probe.send('empty-basic')];
      const [one, other] = row.answersAnew === true ? answers.map(({ status }) => status) : answers;
      expect([probe.name, other]).toStrictEqual([probe.name, one]);
      if (row.refusesBody !== true)
        expect([probe.name, answers[0]?.status]).not.toStrictEqual([probe.name, 401]);
    }
  });

  test('M1, M2, M3: without credentials, with a wrong secret, without policies', async () => {
    let next = 0;
    const problems = await everywhere(async (probe) => {
      const isApi = !probe.name.startsWith('s3 ');
      // Failures are limited per address, so that every few rows need another one.
      const address = `127.0.1.${(next++ % 50) + 1}`;
      const wrong = { ...powerless, secretAccessKey: 'wrong' };
      const [anonymous, mistaken, none] = [
        await probe.send('nobody', address),
        await probe.send(wrong, address),
        await probe.send(powerless),
      ];
      const found: string[] = [];
      if (isApi) {
        for (const { status, message } of [anonymous, mistaken]) {
          if (status !== 401 || (message ?? authenticating) !== authenticating) {
            found.push(`unauthenticated: ${status} ${message}`);
          }
        }
        if (anonymous.body !== mistaken.body) found.push('the two refusals differ');
      } else if (anonymous.status !== 403 || mistaken.status !== 403) {
        found.push(`unauthenticated: ${anonymous.status}, ${mistaken.status}`);
      }
      const [first] = probe.leaves.filter(({ soft }) => !soft);
      if (first === undefined) {
        if (none.denied) found.push('any user may call it, but was refused');
      } else found.push(...refusedWith(none, `not allowed to ${first.action}`, 'without policies'));
      return found;
    });
    expect(problems).toStrictEqual([]);
  });

  test('M4, M9, M10, M11: exactly the needed grants, by wildcards, through a group, with the other partition', async () => {
    const problems = await everywhere(async (probe, lane) => {
      const hard = probe.leaves.filter(({ soft }) => !soft);
      if (hard.length === 0) return [];
      const grants: [string, Grant[], 'direct' | 'group'][] = [
        ['exactly', hard.map((leaf) => allow(leaf)), 'direct'],
        ['by wildcards', hard.map((leaf) => allow(leaf, widened(leaf))), 'direct'],
        ['through a group', hard.map((leaf) => allow(leaf)), 'group'],
        [
          'with the other partition',
          hard.map((leaf) => allow(leaf, { resource: leaf.resource.replace('arn:svc:', 'arn:lakefs:') })),
          'direct',
        ],
      ];
      const found: string[] = [];
      for (const [name, statements, way] of grants) {
        const answer = await probe.send(await lane.grant(statements, way));
        if (answer.denied || (answer.status >= 500 && answer.status !== 501)) {
          found.push(`granted ${name}: ${answer.status} ${answer.message ?? answer.body}`);
        }
      }
      return found;
    });
    expect(problems).toStrictEqual([]);
  });

  test('M5, M6, M7, M8: a grant missing, for another resource, denied, or the service denied', async () => {
    const problems = await everywhere(async (probe, lane) => {
      const hard = probe.leaves.filter(({ soft }) => !soft);
      if (hard.length === 0) return [];
      const exact = hard.map((leaf) => allow(leaf));
      const found: string[] = [];
      const expectRefusal = async (name: string, statements: Grant[], reason: string) => {
        const caller = statements.length === 0 ? powerless : await lane.grant(statements, 'direct');
        found.push(...refusedWith(await probe.send(caller), reason, name));
      };
      for (const [index, leaf] of hard.entries()) {
        const others = exact.filter((_grant, position) => position !== index);
        const name = `${leaf.action} on ${leaf.resource}`;
        await expectRefusal(`without ${name}`, others, `not allowed to ${leaf.action}`);
        const near = allow(leaf, { resource: sibling(leaf) });
        await expectRefusal(`beside ${name}`, [...others, near], `not allowed to ${leaf.action}`);
      }
      for (const leaf of probe.leaves) {
        await expectRefusal(
          `denied ${leaf.action}`,
          [...exact, deny(leaf)],
          `denied permission to ${leaf.action}`,
        );
      }
      const service = hard[0]?.action.split(':')[0];
      const everything = services.map((each): Grant => ({
        effect: 'allow',
        action: [`${each}:*`],
        resource: '*',
      }));
      const ban: Grant = { effect: 'deny', action: [`${service}:*`], resource: '*' };
      await expectRefusal('service denied', [...everything, ban], `denied permission to ${service}:*`);
      return found;
    });
    expect(problems).toStrictEqual([]);
  });

  test('without credentials, what is allowed to anonymous requests is all there is', async () => {
    const resource = '["arn:svc:fs:::repository/repo1","arn:svc:fs:::repository/repo1/*"]';
    const action = ['fs:ReadObject', 'fs:ListObjects', 'fs:ReadRepository', 'fs:ListBranches'];
    const statement = [{ effect: 'allow', action, resource, principal: ['anonymous'] }];
    await manage(server, 'POST', '/auth/policies', { id: 'anonymous', statement });
    const served: string[] = [];
    const problems = await everywhere(async (probe) => {
      const { status } = await probe.send('nobody');
      if (status < 300) served.push(probe.name);
      return status < 300 || status === 401 || status === 403 ? [] : [`answered ${status}`];
    });
    await manage(server, 'DELETE', '/auth/policies/anonymous');
    expect(problems).toStrictEqual([]);
    expect(served.toSorted()).toStrictEqual([
      's3 getBucketLocation',
      's3 getObject',
      's3 getObject through an alias',
      's3 getObjectAttributes',
      's3 getObjectTagging',
      's3 headBucket',
      's3 headObject',
      's3 listObjects',
      's3 listObjects of a branch name',
      's3 listObjects of branches',
      's3 listObjects through an alias',
    ]);
  });

  test('the base groups may do what is written down', async () => {
    const allowed: Record<string, string> = {};
    await everywhere(async (probe) => {
      const who: string[] = [];
      for (const group of baseGroups) {
        if (!(await probe.send(members.get(group)!)).denied) who.push(group);
      }
      allowed[probe.name] = who.join(' ');
      return [];
    });
    const file = join(import.meta.dirname, 'authorization-matrix-groups.json');
    expect(allowed).toStrictEqual(JSON.parse(readFileSync(file, 'utf8')));
  });

  test('no log of all this holds a secret', async () => {
    finished = await server.stop();
    const log = (finished.stdout + finished.stderr).split('\n').filter((line) => line.startsWith('{'));
    expect(log.length).toBeGreaterThan(1000);
    expect(secrets.size).toBeGreaterThan(20);
    const text = log.join('\n');
    expect([...secrets].filter((secret) => text.includes(secret))).toStrictEqual([]);
  });
});

/** Remembers every secret that the server gives out from now on. */
function collectSecrets(server: RunningSvc, secrets: Set<string>): void {
  const request = server.request.bind(server);
  server.request = async (...parameters) => {
    const answer = await request(...parameters);
    for (const [, secret = ''] of answer.body.matchAll(/"(?:secret_access_key|token)":"([^"]+)"/g))
      secrets.add(secret);
    return answer;
  };
}

const authenticating = 'error authenticating request';

function refusedWith(outcome: Outcome, reason: string, name: string): string[] {
  if (!outcome.denied) return [`${name}: ${outcome.status} ${outcome.body.slice(0, 200)}`];
  const { message = `insufficient permissions: ${reason}` } = outcome;
  return message === `insufficient permissions: ${reason}` ? [] : [`${name}: "${message}"`];
}

/** A user whose only policy is replaced from case to case, and one who gets the same through a group. */
class Lane {
  readonly #server: RunningSvc;
  readonly #index: number;
  readonly #direct: Key;
  readonly #grouped: Key;

  private constructor(server: RunningSvc, index: number, direct: Key, grouped: Key) {
    this.#server = server;
    this.#index = index;
    this.#direct = direct;
    this.#grouped = grouped;
  }

  static async open(server: RunningSvc, index: number): Promise<Lane> {
    const [direct, grouped] = [`direct-${index}`, `grouped-${index}`];
    const keys = [await newUser(server, direct), await newUser(server, grouped)] as const;
    const statement = [{ effect: 'deny', action: ['fs:*'], resource: '*' }];
    for (const id of [direct, grouped]) await manage(server, 'POST', '/auth/policies', { id, statement });
    await manage(server, 'PUT', `/auth/users/${direct}/policies/${direct}`);
    await manage(server, 'POST', '/auth/groups', { id: grouped });
    await manage(server, 'PUT', `/auth/groups/${grouped}/members/${grouped}`);
    await manage(server, 'PUT', `/auth/groups/${grouped}/policies/${grouped}`);
    return new Lane(server, index, ...keys);
  }

  async grant(statement: readonly Grant[], way: 'direct' | 'group'): Promise<Key> {
    const id = way === 'direct' ? `direct-${this.#index}` : `grouped-${this.#index}`;
    await manage(this.#server, 'PUT', `/auth/policies/${id}`, { id, statement });
    return way === 'direct' ? this.#direct : this.#grouped;
  }
}
