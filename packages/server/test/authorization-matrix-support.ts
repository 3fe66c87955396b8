import { hash } from 'node:crypto';
import { signRequest, SigningKeyCache } from '@svc/encoding';
import { operations, type Operation } from '@svc/contract';
import type { GatewayRow } from './authorization-matrix-gateway.ts';
import { defaultParams, type MatrixRow } from './authorization-matrix-table.ts';
import type { Answer, RunningSvc } from './start-server.ts';

export interface Leaf {
  readonly action: string;
  readonly resource: string;
  readonly soft: boolean;
}

export interface Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Grant {
  readonly effect: 'allow' | 'deny';
  readonly action: string[];
  readonly resource: string;
}

export type Facts = Readonly<Record<'pull' | 'commit' | 'outside' | 'key' | 'trash', string>>;

/** Puts facts into every text of a value. */
export function withFacts<T>(value: T, facts: Facts): T {
  return JSON.parse(
    JSON.stringify(value).replaceAll(
      /\{(pull|commit|outside|key|trash)\}/g,
      (_all, name: keyof Facts) => facts[name],
    ),
  ) as T;
}

const kinds: Readonly<Record<string, (value: string) => string>> = {
  R: (value) => `arn:svc:fs:::repository/${value}`,
  B: (value) => `arn:svc:fs:::repository/repo1/branch/${value}`,
  O: (value) => `arn:svc:fs:::repository/repo1/object/${value}`,
  T: (value) => `arn:svc:fs:::repository/repo1/tag/${value}`,
  N: (value) => `arn:svc:fs:::namespace/${value}`,
  A: (value) => `arn:svc:fs:::alias/${value}`,
  U: (value) => `arn:svc:auth:::user/${value}`,
  G: (value) => `arn:svc:auth:::group/${value}`,
  P: (value) => `arn:svc:auth:::policy/${value}`,
  E: (value) => `arn:svc:auth:::externalPrincipal/${value}`,
};

export function readLeaves(requires: string): Leaf[] {
  return requires.split(' & ').map((text) => {
    const match = /^(\??)([a-z]+:[A-Za-z]+)@(\*|([A-Z])(?:\((.*)\))?)$/.exec(text);
    if (match === null) throw new Error(`"${text}" is not a leaf`);
    const [, soft = '', action = '', resource = '', kind = '', value = 'repo1'] = match;
    const name = kinds[kind];
    return {
      action,
      soft: soft === '?',
      resource: resource === '*' || name === undefined ? '*' : name(value),
    };
  });
}

export function allow(leaf: Leaf, changes: Partial<Leaf> = {}): Grant {
  const { action, resource } = { ...leaf, ...changes };
  return { effect: 'allow', action: [action], resource };
}

export function deny(leaf: Leaf): Grant {
  return { ...allow(leaf), effect: 'deny' };
}

/** A resource close by, which the requirement does not name. */
export function sibling({ action, resource }: Leaf): string {
  return resource === '*' ? `arn:svc:${action.split(':')[0]}:::*` : `${resource}x`;
}

/** The same leaf by wildcards. */
export function widened({ action, resource }: Leaf): { action: string; resource: string } {
  const [service = '', name = ''] = action.split(':');
  return {
    action: `${service}:${name.slice(0, 3)}*`,
    resource: resource === '*' ? '*' : `${resource.slice(0, resource.lastIndexOf('/') + 1)}*`,
  };
}

export interface Outcome {
  readonly status: number;
  /** Refused for want of permission; `message` says why, where the protocol has room for it. */
  readonly denied: boolean;
  readonly message: string | undefined;
  readonly body: string;
}

/** One operation that can be sent by anybody. */
export interface Probe {
  readonly name: string;
  readonly leaves: readonly Leaf[];
  send(caller: Caller, localAddress?: string): Promise<Outcome>;
}

/** With a key, with a header of its own, or without either. */
export type Caller = Key | { readonly authorization: string } | 'nobody' | 'empty-basic';

export function apiProbe(name: string, operation: Operation, row: MatrixRow, server: RunningSvc): Probe {
  const alias = operation.aliases.find((each) => each.operationId === name);
  const path = (alias?.path ?? operation.path).replaceAll(/\{([^}]+)\}/g, (_all, parameter: string) =>
    encodeURIComponent(row.params?.[parameter] ?? defaultParams[parameter] ?? ''),
  );
  const query = new URLSearchParams(row.query).toString();
  const isJson = typeof row.body !== 'string';
  const body = typeof row.body === 'string' ? row.body : JSON.stringify(row.body);
  return {
    name,
    leaves: row.requires === 'open' || row.requires === 'auth' ? [] : readLeaves(row.requires),
    async send(caller, localAddress = '127.0.0.1') {
      const answer = await server.request(`/api/v1${path}${query === '' ? '' : `?${query}`}`, {
        method: operation.method,
        localAddress,
        headers: {
          ...authorization(caller),
          ...(row.body === undefined
            ? {}
            : {
                'content-type': isJson ? 'application/json' : 'application/octet-stream',
                // Without it node sends the body of a DELETE unframed.
                'content-length': Buffer.byteLength(body),
              }),
        },
        ...(row.body === undefined ? {} : { body }),
      });
      return apiOutcome(answer, row);
    },
  };
}

function authorization(caller: Caller): Record<string, string> {
  if (caller === 'nobody') return {};
  if (caller === 'empty-basic') return { authorization: 'Basic Og==' };
  if ('authorization' in caller) return { authorization: caller.authorization };
  const pair = `${caller.accessKeyId}:${caller.secretAccessKey}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function apiOutcome({ status, body }: Answer, row: MatrixRow): Outcome {
  const parsed = body.startsWith('{') ? (JSON.parse(body) as Record<string, unknown>) : {};
  if (row.perPath === true && status === 200) {
    const [error] = (parsed['errors'] ?? []) as { status_code: number }[];
    return { status, body, denied: error?.status_code === 401, message: undefined };
  }
  const message = typeof parsed['message'] === 'string' ? parsed['message'] : undefined;
  return { status, body, denied: status === 401, message };
}

const signingKeys = new SigningKeyCache();

export function gatewayProbe(name: string, row: GatewayRow, server: RunningSvc): Probe {
  return {
    name: `s3 ${name}`,
    leaves: readLeaves(row.requires),
    async send(caller, localAddress = '127.0.0.1') {
      const { body = '' } = row;
      const host = `s3.svc.localhost:${server.port}`;
      const payload = {
        host,
        ...row.headers,
        ...(body === '' ? {} : { 'content-md5': hash('md5', body, 'base64') }),
      };
      const query = row.query ?? '';
      const signed =
        typeof caller === 'string' || 'authorization' in caller
          ? { headers: { ...payload, ...authorization(caller) } }
          : signRequest(
              {
                method: row.method,
                path: row.path,
                query,
                headers: payload,
                payloadHash: hash('sha256', body),
              },
              { credentials: caller, region: 'us-east-1', service: 's3', now: new Date(), keys: signingKeys },
            );
      const answer = await server.request(`${row.path}${query === '' ? '' : `?${query}`}`, {
        method: row.method,
        localAddress,
        headers: signed.headers,
        ...(body === '' ? {} : { body }),
      });
      const code = /<Code>([^<]*)<\/Code>/.exec(answer.body)?.[1];
      const denied =
        row.perPath === true && answer.status === 200
          ? code === 'AccessDenied'
          : answer.status === 403 && (row.method === 'HEAD' || code === 'AccessDenied');
      return { status: answer.status, body: answer.body, denied, message: undefined };
    },
  };
}

export const admin: Key = {
  accessKeyId: 'AKIAIOSFOLQUICKSTART',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

/** Operations that share a route with another one. */
const routeOf: Readonly<Record<string, string>> = { updatePolicyByPost: 'createPolicy' };

/** Every id a request can be made under, with its operation. */
export function contractRows(): Map<string, Operation> {
  const rows = new Map<string, Operation>();
  for (const operation of Object.values<Operation>(operations)) {
    rows.set(operation.operationId, operation);
    for (const alias of operation.aliases) rows.set(alias.operationId, operation);
  }
  for (const [name, route] of Object.entries(routeOf)) {
    const operation = rows.get(route);
    if (operation !== undefined) rows.set(name, operation);
  }
  return rows;
}

export function withParams(row: MatrixRow, facts: Facts): MatrixRow {
  return { ...row, params: withFacts({ ...defaultParams, ...row.params }, facts) };
}

export async function manage(
  server: RunningSvc,
  method: string,
  path: string,
  body?: unknown,
): Promise<string> {
  const pair = Buffer.from(`${admin.accessKeyId}:${admin.secretAccessKey}`).toString('base64');
  const answer = await server.request(`/api/v1${path}`, {
    method,
    headers: { authorization: `Basic ${pair}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
  return answer.body;
}

export async function newUser(server: RunningSvc, id: string): Promise<Key> {
  await manage(server, 'POST', '/auth/users', { id });
  const created = JSON.parse(await manage(server, 'POST', `/auth/users/${id}/credentials`)) as Record<
    string,
    string
  >;
  return { accessKeyId: created['access_key_id'] ?? '', secretAccessKey: created['secret_access_key'] ?? '' };
}

/** What the rows speak of. */
export async function prepare(server: RunningSvc, elsewhere: string): Promise<Facts> {
  const repository = '/repositories/repo1';
  await manage(server, 'POST', '/repositories', { name: 'repo1', storage_namespace: 'local://repo1' });
  await manage(server, 'POST', `${repository}/branches/main/objects?path=dir%2Fa`, 'content');
  await manage(server, 'POST', `${repository}/branches/main/commits`, { message: 'first' });
  for (const name of ['dev', 'scratch']) {
    await manage(server, 'POST', `${repository}/branches`, { name, source: 'main' });
  }
  await manage(server, 'POST', `${repository}/tags`, { id: 't1', ref: 'main' });
  const pull = await manage(server, 'POST', `${repository}/pulls`, {
    title: 'first',
    source_branch: 'dev',
    destination_branch: 'main',
  });
  const branch = await manage(server, 'GET', `${repository}/branches/main`);
  const { accessKeyId } = await newUser(server, 'bob');
  for (const id of ['g1', 'levels']) await manage(server, 'POST', '/auth/groups', { id });
  await manage(server, 'POST', '/auth/policies', {
    id: 'p-one',
    statement: [{ effect: 'allow', action: ['fs:ReadObject'], resource: '*' }],
  });
  await manage(server, 'POST', '/aliases', { name: 'prod', repository: 'repo1', ref: 'main' });
  const trashed = { name: 'trashed', storage_namespace: 'local://trashed' };
  await manage(server, 'POST', '/repositories', trashed);
  await manage(server, 'DELETE', '/repositories/trashed');
  // Restoring it is refused whoever asks, so that it can be asked again and again.
  await manage(server, 'POST', '/repositories?bare=true', { ...trashed, name: 'successor' });
  const { results } = JSON.parse(await manage(server, 'GET', '/deleted_repositories')) as {
    results: { instance: string }[];
  };
  return {
    trash: results[0]?.instance ?? '',
    pull: (JSON.parse(pull) as { id: string }).id,
    commit: (JSON.parse(branch) as { commit_id: string }).commit_id,
    outside: `local://${elsewhere}/data`,
    key: accessKeyId,
  };
}
