/**
 * What an operation requires of its caller, as data. A leaf names an action and a resource template; the
 * placeholders of a template are `{path.x}`, `{query.x}`, `{body.x.y}` and, inside `each`, `{item.x}` (`{item}`
 * for an element that is a string).
 *
 * - `one`: the action must be allowed on the resource;
 * - `soft`: it must not be denied, but need not be allowed;
 * - `each`: the node must hold for every element of an array in the body;
 * - `choose`: which node applies depends on a boolean query parameter;
 * - `deferred`: the operation itself checks the node, because the resource or the need for it is known only
 *   after something was read. `reason` says what.
 */
export type Permission = { readonly type: 'open' } | { readonly type: 'authenticated' } | PermissionNode;

export type PermissionNode =
  | PermissionLeaf
  | { readonly type: 'and'; readonly nodes: readonly PermissionNode[] }
  | { readonly type: 'or'; readonly nodes: readonly PermissionNode[] }
  | { readonly type: 'each'; readonly of: string; readonly node: PermissionNode }
  | {
      readonly type: 'choose';
      readonly query: string;
      readonly whenTrue: PermissionNode;
      readonly otherwise: PermissionNode;
    }
  | { readonly type: 'deferred'; readonly reason: string; readonly node: PermissionNode };

export interface PermissionLeaf {
  readonly type: 'one' | 'soft';
  readonly action: string;
  readonly resource: string;
}

export const open: Permission = { type: 'open' };
export const authenticated: Permission = { type: 'authenticated' };

export function one(action: string, resource: string): PermissionLeaf {
  return { type: 'one', action, resource };
}

export function soft(action: string, resource: string): PermissionLeaf {
  return { type: 'soft', action, resource };
}

export function and(...nodes: readonly PermissionNode[]): PermissionNode {
  return { type: 'and', nodes };
}

export function each(of: string, node: PermissionNode): PermissionNode {
  return { type: 'each', of, node };
}

export function deferred(reason: string, node: PermissionNode): PermissionNode {
  return { type: 'deferred', reason, node };
}

/** Resource templates. The argument is where the value comes from, e.g. `path.branch` or `body.name`. */
export const anything = '*';
export const repositoryArn = 'arn:svc:fs:::repository/{path.repository}';

export function namedRepositoryArn(source: string): string {
  return `arn:svc:fs:::repository/{${source}}`;
}

export function branchArn(source: string): string {
  return `${repositoryArn}/branch/{${source}}`;
}

export function objectArn(source: string): string {
  return `${repositoryArn}/object/{${source}}`;
}

export function tagArn(source: string): string {
  return `${repositoryArn}/tag/{${source}}`;
}

export function namespaceArn(source: string): string {
  return `arn:svc:fs:::namespace/{${source}}`;
}

export function userArn(source: string): string {
  return `arn:svc:auth:::user/{${source}}`;
}

export function groupArn(source: string): string {
  return `arn:svc:auth:::group/{${source}}`;
}

export function policyArn(source: string): string {
  return `arn:svc:auth:::policy/{${source}}`;
}

/** The policy that carries a group's access level. */
export const groupAclPolicyArn = 'arn:svc:auth:::policy/ACL(_-_){path.groupId}';

export function externalPrincipalArn(source: string): string {
  return `arn:svc:auth:::externalPrincipal/{${source}}`;
}
