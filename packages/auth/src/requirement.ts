import type { RequiredPermission } from './identity.ts';

/**
 * What a request needs, as data. `soft` must not be denied but need not be allowed. `every` asks for all resources
 * that begin with `start` at once, `soft-every` that none of them is denied. An `and` is answered by its first child
 * that is not allowed; in an `or` any denial wins over any allowance.
 */
export type Requirement =
  | { readonly type: 'one'; readonly action: string; readonly resource: string }
  | { readonly type: 'soft'; readonly action: string; readonly resource: string }
  | { readonly type: 'every' | 'soft-every'; readonly action: string; readonly start: string }
  | { readonly type: 'and'; readonly nodes: readonly Requirement[] }
  | { readonly type: 'or'; readonly nodes: readonly Requirement[] };

export function one(action: string, resource: string): Requirement {
  return { type: 'one', action, resource };
}

export function soft(action: string, resource: string): Requirement {
  return { type: 'soft', action, resource };
}

/** All resources whose names begin with `start`. */
export function every(action: string, start: string): Requirement {
  return { type: 'every', action, start };
}

export function softEvery(action: string, start: string): Requirement {
  return { type: 'soft-every', action, start };
}

export function and(...nodes: readonly Requirement[]): Requirement {
  return { type: 'and', nodes };
}

export function or(...nodes: readonly Requirement[]): Requirement {
  return { type: 'or', nodes };
}

/** What a requirement asks for first: what the request is about. */
export function leadingPermission(requirement: Requirement): RequiredPermission | undefined {
  switch (requirement.type) {
    case 'one':
    case 'soft':
      return requirement;
    case 'every':
    case 'soft-every':
      return { action: requirement.action, resource: `${requirement.start}*` };
    case 'and':
    case 'or': {
      const [first] = requirement.nodes;
      return first === undefined ? undefined : leadingPermission(first);
    }
  }
}

/** Resource names. Values are inserted decoded and unescaped. */
export const arn = {
  all: '*',
  repository: (repository: string) => `arn:svc:fs:::repository/${repository}`,
  branch: (repository: string, branch: string) => `arn:svc:fs:::repository/${repository}/branch/${branch}`,
  object: (repository: string, key: string) => `arn:svc:fs:::repository/${repository}/object/${key}`,
  tag: (repository: string, tag: string) => `arn:svc:fs:::repository/${repository}/tag/${tag}`,
  namespace: (uri: string) => `arn:svc:fs:::namespace/${uri}`,
  alias: (alias: string) => `arn:svc:fs:::alias/${alias}`,
  user: (username: string) => `arn:svc:auth:::user/${username}`,
  group: (group: string) => `arn:svc:auth:::group/${group}`,
  policy: (policy: string) => `arn:svc:auth:::policy/${policy}`,
  externalPrincipal: (id: string) => `arn:svc:auth:::externalPrincipal/${id}`,
} as const;
