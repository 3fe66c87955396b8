import type { ProvisionedGroup, ProvisionedUser } from '@svc/auth';
import { listSchema, resourceTypes, schemas, serviceProviderConfig } from './discovery.ts';
import { parseFilter } from './filter.ts';
import { createGroup, groupView, patchGroup, replaceGroup } from './groups.ts';
import type { ScimAnswer, ScimCall } from './scim.ts';
import { invalid, ScimError, toScimError } from './scim-error.ts';
import { patched, profileOf, userView } from './users.ts';

export interface Route {
  readonly operationId: string;
  readonly kind: 'User' | 'Group' | undefined;
  readonly id: string;
  /** What a person needs to do the same; undefined when it changes nothing. */
  readonly action: string | undefined;
  readonly run: (call: ScimCall) => Promise<ScimAnswer> | ScimAnswer;
}

interface Operation extends Pick<Route, 'operationId' | 'run'> {
  readonly action?: string;
}

const maxResults = 200;
const defaultResults = 100;

const users: { readonly all: Operations; readonly one: Operations } = {
  all: {
    GET: { operationId: 'scimListUsers', run: listUsers },
    POST: {
      operationId: 'scimCreateUser',
      action: 'auth:CreateUser',
      async run({ directory, body, actor, base }) {
        const user = await directory.createUser(profileOf(await body()), actor);
        return created(userView(user, base), `${base}/Users/${encodeURIComponent(user.id)}`);
      },
    },
  },
  one: {
    GET: {
      operationId: 'scimGetUser',
      run: async ({ directory, id, base }) => found(userView(await directory.getUser(id), base)),
    },
    PUT: {
      operationId: 'scimReplaceUser',
      action: 'auth:CreateUser',
      run: async ({ directory, id, body, actor, base }) =>
        found(userView(await directory.replaceUser(id, profileOf(await body()), actor), base)),
    },
    PATCH: {
      operationId: 'scimPatchUser',
      action: 'auth:CreateUser',
      async run({ directory, id, body, actor, base }) {
        const { id: _id, createdAt: _created, changedAt: _changed, ...profile } = await directory.getUser(id);
        return found(userView(await directory.replaceUser(id, patched(profile, await body()), actor), base));
      },
    },
    DELETE: {
      operationId: 'scimDeleteUser',
      action: 'auth:DeleteUser',
      async run({ directory, id, actor }) {
        await directory.deleteUser(id, actor);
        return { status: 204 };
      },
    },
  },
};

const groups: { readonly all: Operations; readonly one: Operations } = {
  all: {
    GET: { operationId: 'scimListGroups', run: listGroups },
    POST: {
      operationId: 'scimCreateGroup',
      action: 'auth:CreateGroup',
      async run({ directory, body, actor, base }) {
        const group = await createGroup(directory, await body(), actor);
        const view = groupView(group, await directory.members(group.id), base);
        return created(view, `${base}/Groups/${encodeURIComponent(group.id)}`);
      },
    },
  },
  one: {
    GET: {
      operationId: 'scimGetGroup',
      async run(call) {
        return found(await viewOfGroup(call, await call.directory.getGroup(call.id)));
      },
    },
    PUT: {
      operationId: 'scimReplaceGroup',
      action: 'auth:AddGroupMember',
      async run(call) {
        await replaceGroup(call.directory, call.id, await call.body(), call.actor);
        return found(await viewOfGroup(call, await call.directory.getGroup(call.id)));
      },
    },
    PATCH: {
      operationId: 'scimPatchGroup',
      action: 'auth:AddGroupMember',
      async run({ directory, id, body, actor }) {
        await patchGroup(directory, id, await body(), actor);
        return { status: 204 };
      },
    },
    DELETE: {
      operationId: 'scimDeleteGroup',
      action: 'auth:DeleteGroup',
      async run({ directory, id, actor }) {
        await directory.deleteGroup(id, actor);
        return { status: 204 };
      },
    },
  },
};

type Operations = Readonly<Record<string, Operation>>;

/** The operation that a path below the base and a method name; undefined when there is none. */
export function routeOf(method: string, path: string): Route | undefined {
  const [first, name = '', encoded, ...more] = path.split('/');
  if (first !== '' || more.length > 0) return undefined;
  const id = encoded === undefined || encoded === '' ? '' : decoded(encoded);
  if (id === undefined) return undefined;
  const kind = name === 'Users' ? 'User' : name === 'Groups' ? 'Group' : undefined;
  if (kind !== undefined) {
    const { all, one } = kind === 'User' ? users : groups;
    const operations = id === '' ? all : one;
    const operation = Object.hasOwn(operations, method) ? operations[method] : undefined;
    return operation === undefined ? undefined : { action: undefined, ...operation, kind, id };
  }
  const described = Object.hasOwn(discovery, name) ? discovery[name] : undefined;
  if (method !== 'GET' || described === undefined) return undefined;
  return { operationId: 'scimDescribe', kind, id, action: undefined, run: described };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const discovery: Readonly<Record<string, (call: ScimCall) => ScimAnswer>> = {
  ServiceProviderConfig: () => found(serviceProviderConfig(maxResults)),
  ResourceTypes: ({ id, base }) => oneOrAll(resourceTypes(base), id),
  Schemas: ({ id, base }) => oneOrAll(schemas(base), id),
};

function oneOrAll(all: readonly { readonly id: string }[], id: string): ScimAnswer {
  if (id === '') return found(listView(all, all.length, 1));
  const named = all.find((each) => each.id === id);
  if (named === undefined) throw new ScimError(404, 'there is no such resource');
  return found(named);
}

async function listUsers({ directory, query, base }: ScimCall): Promise<ScimAnswer> {
  const { from, count } = sliceOf(query);
  const text = query.get('filter');
  if (text === null) {
    const { total, results } = await directory.listUsers({ from, count });
    return found(
      listView(
        results.map((user) => userView(user, base)),
        total,
        from + 1,
      ),
    );
  }
  const { attribute, value } = parseFilter(text);
  let user: ProvisionedUser | undefined;
  if (attribute === 'username') user = await directory.findUser({ userName: value });
  else if (attribute === 'externalid') user = await directory.findUser({ externalId: value });
  else throw invalid('invalidFilter', 'people are found by userName or externalId');
  return found(filtered(user === undefined ? [] : [userView(user, base)], { from, count }));
}

async function listGroups(call: ScimCall): Promise<ScimAnswer> {
  const { directory, query } = call;
  const { from, count } = sliceOf(query);
  const text = query.get('filter');
  if (text === null) {
    const { total, results } = await directory.listGroups({ from, count });
    const views = [];
    for (const group of results) views.push(await viewOfGroup(call, group));
    return found(listView(views, total, from + 1));
  }
  const { attribute, value } = parseFilter(text);
  if (attribute !== 'displayname') throw invalid('invalidFilter', 'groups are found by displayName');
  const views: object[] = [];
  try {
    views.push(await viewOfGroup(call, await directory.getGroup(value)));
  } catch (error) {
    if (toScimError(error).status !== 404) throw error;
  }
  return found(filtered(views, { from, count }));
}

function viewOfGroup({ directory, query, base }: ScimCall, group: ProvisionedGroup): Promise<object> {
  const excluded = (query.get('excludedAttributes') ?? '').toLowerCase().split(',');
  if (excluded.some((name) => name.trim() === 'members'))
    return Promise.resolve(groupView(group, undefined, base));
  return directory.members(group.id).then((members) => groupView(group, members, base));
}

/** Counted from 1 in the protocol; what is out of bounds is moved into them. */
function sliceOf(query: URLSearchParams): { readonly from: number; readonly count: number } {
  return {
    from: Math.max(1, integer(query.get('startIndex'), 1)) - 1,
    count: Math.min(maxResults, Math.max(0, integer(query.get('count'), defaultResults))),
  };
}

function integer(text: string | null, otherwise: number): number {
  if (text === null || text === '') return otherwise;
  if (!/^-?\d{1,9}$/.test(text)) throw invalid('invalidValue', 'startIndex and count must be whole numbers');
  return Number(text);
}

function filtered(all: readonly object[], { from, count }: { from: number; count: number }): object {
  return listView(all.slice(from, from + count), all.length, from + 1);
}

function listView(resources: readonly object[], total: number, startIndex: number): object {
  return {
    schemas: [listSchema],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

function found(body: object): ScimAnswer {
  return { status: 200, body };
}

function created(body: object, location: string): ScimAnswer {
  return { status: 201, body, location };
}
