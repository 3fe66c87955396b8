import { scriptedService, type ServiceAnswer, type ServiceCall } from './scripted-service.ts';

type Json = Record<string, unknown>;

interface Kept {
  readonly users: Map<string, Json>;
  readonly groups: Map<string, Json>;
  readonly policies: Map<string, Json>;
  readonly credentials: Map<string, Json>;
  readonly principals: Map<string, Json>;
  /** Names of groups by user, of policies by user, of policies by group. */
  readonly memberships: Map<string, Set<string>>;
  readonly userPolicies: Map<string, Set<string>>;
  readonly groupPolicies: Map<string, Set<string>>;
  readonly claimed: Set<string>;
}

interface Asked {
  readonly names: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Json;
}

interface Operation {
  readonly method: string;
  readonly path: RegExp;
  readonly query: readonly string[];
  readonly body?: readonly string[];
  readonly serve: (asked: Asked) => ServiceAnswer;
}

export interface AuthorizationFake {
  /** As `auth.api.endpoint` has it. */
  readonly endpoint: string;
  readonly kept: Kept;
  readonly calls: ServiceCall[];
  /** Calls that such a service does not have, or that say what it does not understand. */
  readonly violations: string[];
  /** Answers the next calls in place of the service, while set. */
  instead: ((call: ServiceCall) => ServiceAnswer | undefined) | undefined;
  /** Entries of a page at most. */
  pageSize: number;
}

const base = '/api/v1';
const paging = ['prefix', 'after', 'amount'];
const created = 1_700_000_000;

/** An authorization service that keeps everything in memory and knows exactly the calls that such services have. */
export async function startAuthorizationFake(token?: string): Promise<AuthorizationFake> {
  const kept: Kept = {
    users: new Map(),
    groups: new Map(),
    policies: new Map(),
    credentials: new Map(),
    principals: new Map(),
    memberships: new Map(),
    userPolicies: new Map(),
    groupPolicies: new Map(),
    claimed: new Set(),
  };
  const fake: AuthorizationFake = {
    endpoint: '',
    kept,
    calls: [],
    violations: [],
    instead: undefined,
    pageSize: 1000,
  };
  const operations = operationsOf(kept, fake);
  const url = await scriptedService((call) => {
    fake.calls.push(call);
    const instead = fake.instead?.(call);
    if (instead !== undefined) return instead;
    if (token !== undefined && call.headers.authorization !== `Bearer ${token}`) return { status: 401 };
    return answer(call, operations, fake.violations);
  });
  return Object.assign(fake, { endpoint: url + base });
}

function answer(call: ServiceCall, operations: readonly Operation[], violations: string[]): ServiceAnswer {
  const url = new URL(call.path, 'http://fake.invalid');
  const told = `${call.method} ${url.pathname}`;
  for (const { method, path, query, body, serve } of operations) {
    const match = url.pathname.startsWith(base) ? path.exec(url.pathname.slice(base.length)) : null;
    if (match === null || method !== call.method) continue;
    for (const name of url.searchParams.keys())
      if (!query.includes(name)) violations.push(`${told} has no parameter ${name}`);
    const given = call.body === '' ? {} : (JSON.parse(call.body) as Json);
    for (const name of Object.keys(given))
      if (body?.includes(name) !== true) violations.push(`${told} has no field ${name}`);
    return serve({ names: match.slice(1).map(decodeURIComponent), query: url.searchParams, body: given });
  }
  violations.push(`there is no ${told}`);
  return { status: 404 };
}

function operationsOf(kept: Kept, fake: AuthorizationFake): readonly Operation[] {
  const page = (
    items: readonly Json[],
    idOf: (item: Json) => unknown,
    query: URLSearchParams,
  ): ServiceAnswer => {
    const wanted = items
      .filter((item) => String(idOf(item)).startsWith(query.get('prefix') ?? ''))
      .filter((item) => String(idOf(item)) > (query.get('after') ?? ''))
      .toSorted((left, right) => (String(idOf(left)) < String(idOf(right)) ? -1 : 1));
    const results = wanted.slice(0, Math.min(Number(query.get('amount') ?? 100), fake.pageSize));
    const hasMore = results.length < wanted.length;
    const last = results.at(-1);
    const next = hasMore && last !== undefined ? String(idOf(last)) : '';
    const pagination = { has_more: hasMore, next_offset: next, results: results.length, max_per_page: 1000 };
    return { body: { pagination, results } };
  };
  const named = (item: Json): unknown => item['name'];
  const record = (kind: Map<string, Json>, name = ''): ServiceAnswer => {
    const found = kind.get(name);
    return found === undefined ? absent : { body: found };
  };
  const remove = (kind: Map<string, Json>, name = ''): ServiceAnswer =>
    kind.delete(name) ? { status: 204 } : absent;
  const create = (kind: Map<string, Json>, name: unknown, item: Json): ServiceAnswer => {
    if (typeof name !== 'string' || name === '') return { status: 400, body: { message: 'no name' } };
    if (kind.has(name)) return { status: 409 };
    kind.set(name, { ...item, creation_date: created });
    return { status: 201, body: kind.get(name) ?? {} };
  };
  const link = (links: Map<string, Set<string>>, from = '', to = ''): ServiceAnswer => {
    const known = links.get(from) ?? new Set();
    if (known.has(to)) return { status: 409 };
    links.set(from, known.add(to));
    return { status: 201 };
  };
  const unlink = (links: Map<string, Set<string>>, from = '', to = ''): ServiceAnswer => {
    links.get(from)?.delete(to);
    return { status: 204 };
  };
  const policiesOf = (ids: Iterable<string>): Json[] =>
    [...new Set(ids)].map((id) => kept.policies.get(id)).filter((policy) => policy !== undefined);
  const update = (kind: Map<string, Json>, name: string, changes: Json, status: number): ServiceAnswer => {
    const found = kind.get(name);
    if (found === undefined) return absent;
    kind.set(name, { ...found, ...changes });
    return { status, body: kind.get(name) ?? {} };
  };
  const newKey = (username: string, query: URLSearchParams): ServiceAnswer => {
    if (!kept.users.has(username)) return absent;
    const id = query.get('access_key') ?? `AKIAFAKE${kept.credentials.size}`;
    const secret = query.get('secret_key') ?? `the secret of ${id}`;
    const item = { access_key_id: id, secret_access_key: secret, user_name: username };
    return create(kept.credentials, id, item);
  };
  const keyOf = (username = '', id = ''): Json | undefined => {
    const found = kept.credentials.get(id);
    return found?.['user_name'] === username ? found : undefined;
  };
  const withoutSecret = (key: Json): Json => ({ ...key, secret_access_key: undefined });
  const members = (group: string): Json[] =>
    [...kept.users.values()].filter((user) => kept.memberships.get(String(user['username']))?.has(group));

  const user = '/auth/users/([^/]+)';
  const group = '/auth/groups/([^/]+)';
  const at = (path: string): RegExp => new RegExp(`^${path}$`);
  const op = (
    method: string,
    path: string,
    serve: Operation['serve'],
    query: readonly string[] = [],
    body?: readonly string[],
  ): Operation => ({ method, path: at(path), query, serve, ...(body !== undefined && { body }) });
  const userFields = [
    'username',
    'email',
    'friendlyName',
    'source',
    'external_id',
    'encryptedPassword',
    'invite',
  ];
  const policyFields = ['name', 'statement', 'creation_date', 'acl'];
  return [
    op('GET', '/healthcheck', () => ({ status: 204 })),
    op('GET', '/config/version', () => ({ body: { version: '1.0' } })),
    op(
      'GET',
      '/auth/users',
      ({ query }) => {
        const by = ['id', 'email', 'external_id'].filter((name) => query.has(name));
        const users = [...kept.users.values()].filter((each) =>
          by.every((name) => textOf(each[name]) === query.get(name)),
        );
        return page(users, (each) => each['username'], query);
      },
      [...paging, 'id', 'email', 'external_id'],
    ),
    op(
      'POST',
      '/auth/users',
      ({ body: { friendlyName, ...body } }) =>
        create(kept.users, body['username'], {
          ...body,
          ...(friendlyName !== undefined && { friendly_name: friendlyName }),
        }),
      [],
      userFields,
    ),
    op('GET', user, ({ names: [name] }) => record(kept.users, name)),
    op('DELETE', user, ({ names: [name] }) => {
      for (const [id, key] of kept.credentials) if (key['user_name'] === name) kept.credentials.delete(id);
      return remove(kept.users, name);
    }),
    op(
      'PUT',
      `${user}/password`,
      ({ names: [name = ''], body }) => update(kept.users, name, body, 200),
      [],
      ['encryptedPassword'],
    ),
    op(
      'PUT',
      `${user}/friendly_name`,
      ({ names: [name = ''], body }) => update(kept.users, name, body, 204),
      [],
      ['friendly_name'],
    ),
    op(
      'GET',
      `${user}/groups`,
      ({ names: [name = ''], query }) => {
        const groups = [...(kept.memberships.get(name) ?? [])]
          .map((id) => kept.groups.get(id))
          .filter((found) => found !== undefined);
        return kept.users.has(name) ? page(groups, named, query) : absent;
      },
      paging,
    ),
    op(
      'GET',
      `${user}/policies`,
      ({ names: [name = ''], query }) => {
        if (!kept.users.has(name)) return absent;
        const direct = [...(kept.userPolicies.get(name) ?? [])];
        const groups = query.get('effective') === 'true' ? [...(kept.memberships.get(name) ?? [])] : [];
        const ids = [...direct, ...groups.flatMap((id) => [...(kept.groupPolicies.get(id) ?? [])])];
        return page(policiesOf(ids), named, query);
      },
      [...paging, 'effective'],
    ),
    op('PUT', `${user}/policies/([^/]+)`, ({ names: [name = '', id = ''] }) =>
      kept.users.has(name) && kept.policies.has(id) ? link(kept.userPolicies, name, id) : absent,
    ),
    op('DELETE', `${user}/policies/([^/]+)`, ({ names: [name, id] }) => unlink(kept.userPolicies, name, id)),
    op(
      'GET',
      `${user}/credentials`,
      ({ names: [name = ''], query }) => {
        const own = [...kept.credentials.values()].filter((key) => key['user_name'] === name);
        return kept.users.has(name)
          ? page(own.map(withoutSecret), (key) => key['access_key_id'], query)
          : absent;
      },
      paging,
    ),
    op('POST', `${user}/credentials`, ({ names: [name = ''], query }) => newKey(name, query), [
      'access_key',
      'secret_key',
    ]),
    op('GET', `${user}/credentials/([^/]+)`, ({ names: [name, id] }) => {
      const found = keyOf(name, id);
      return found === undefined ? absent : { body: withoutSecret(found) };
    }),
    op('DELETE', `${user}/credentials/([^/]+)`, ({ names: [name, id] }) =>
      keyOf(name, id) === undefined ? absent : remove(kept.credentials, id),
    ),
    op('GET', '/auth/credentials/([^/]+)', ({ names: [id] }) => record(kept.credentials, id)),
    op('GET', '/auth/groups', ({ query }) => page([...kept.groups.values()], named, query), paging),
    op(
      'POST',
      '/auth/groups',
      ({ body: { id, ...body } }) => create(kept.groups, id, { name: id, ...body }),
      [],
      ['id', 'description'],
    ),
    op('GET', group, ({ names: [id] }) => record(kept.groups, id)),
    op('DELETE', group, ({ names: [id] }) => remove(kept.groups, id)),
    op(
      'GET',
      `${group}/members`,
      ({ names: [id = ''], query }) =>
        kept.groups.has(id) ? page(members(id), (each) => each['username'], query) : absent,
      paging,
    ),
    op('PUT', `${group}/members/([^/]+)`, ({ names: [id = '', name = ''] }) =>
      kept.groups.has(id) && kept.users.has(name) ? link(kept.memberships, name, id) : absent,
    ),
    op('DELETE', `${group}/members/([^/]+)`, ({ names: [id, name] }) => unlink(kept.memberships, name, id)),
    op(
      'GET',
      `${group}/policies`,
      ({ names: [id = ''], query }) =>
        kept.groups.has(id) ? page(policiesOf(kept.groupPolicies.get(id) ?? []), named, query) : absent,
      paging,
    ),
    op('PUT', `${group}/policies/([^/]+)`, ({ names: [id = '', policy = ''] }) =>
      kept.groups.has(id) && kept.policies.has(policy) ? link(kept.groupPolicies, id, policy) : absent,
    ),
    op('DELETE', `${group}/policies/([^/]+)`, ({ names: [id, policy] }) =>
      unlink(kept.groupPolicies, id, policy),
    ),
    op('GET', '/auth/policies', ({ query }) => page([...kept.policies.values()], named, query), paging),
    op('POST', '/auth/policies', ({ body }) => create(kept.policies, body['name'], body), [], policyFields),
    op('GET', '/auth/policies/([^/]+)', ({ names: [id] }) => record(kept.policies, id)),
    op(
      'PUT',
      '/auth/policies/([^/]+)',
      ({ names: [id = ''], body }) => update(kept.policies, id, body, 200),
      [],
      policyFields,
    ),
    op('DELETE', '/auth/policies/([^/]+)', ({ names: [id] }) => remove(kept.policies, id)),
    op(
      'POST',
      `${user}/external/principals`,
      ({ names: [name], query }) =>
        create(kept.principals, query.get('principalId'), { id: query.get('principalId'), user_id: name }),
      ['principalId'],
    ),
    op(
      'DELETE',
      `${user}/external/principals`,
      ({ query }) => remove(kept.principals, query.get('principalId') ?? ''),
      ['principalId'],
    ),
    op(
      'GET',
      `${user}/external/principals/ls`,
      ({ names: [name], query }) =>
        page(
          [...kept.principals.values()].filter((each) => each['user_id'] === name),
          (each) => each['id'],
          query,
        ),
      paging,
    ),
    op(
      'GET',
      '/auth/external/principals',
      ({ query }) => record(kept.principals, query.get('principalId') ?? ''),
      ['principalId'],
    ),
    op(
      'POST',
      '/auth/tokenid/claim',
      ({ body: { token_id: id } }) => {
        const isNew = !kept.claimed.has(String(id));
        kept.claimed.add(String(id));
        return { status: isNew ? 201 : 400 };
      },
      [],
      ['token_id', 'expires_at'],
    ),
  ];
}

const absent: ServiceAnswer = { status: 404 };

function textOf(value: unknown): string {
  return typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '';
}
