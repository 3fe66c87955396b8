/**
 * What an operation requires of its caller, as data: a requirement whose resources have placeholders, filled from each
 * request. A leaf names an action and a resource; the placeholders are `{path.x}`, `{query.x}`, `{body.x.y}` and,
 * inside `each`, `{item.x}` (`{item}` for an element that is a string). `{base path.x}` is the branch or tag of a ref that
 * names one at a time.
 *
 * - `one`: the action must be allowed on the resource;
 * - `soft`: it must not be denied, but need not be allowed;
 * - `each`: the template must hold for every element of an array in the body;
 * - `choose`: which template applies depends on a boolean query parameter;
 * - `deferred`: the operation itself checks the template, because the resource or the need for it is known only
 *   after something was read. `reason` says what.
 */
export type RequirementTemplate =
  | RequirementLeaf
  | { readonly type: 'and'; readonly nodes: readonly RequirementTemplate[] }
  | { readonly type: 'or'; readonly nodes: readonly RequirementTemplate[] }
  | { readonly type: 'each'; readonly of: string; readonly node: RequirementTemplate }
  | {
      readonly type: 'choose';
      readonly query: string;
      readonly whenTrue: RequirementTemplate;
      readonly otherwise: RequirementTemplate;
    }
  | { readonly type: 'deferred'; readonly reason: string; readonly node: RequirementTemplate };

export interface RequirementLeaf {
  readonly type: 'one' | 'soft';
  readonly action: string;
  readonly resource: string;
}

/** Anybody may ask (`open`), any user (`authenticated`), or whoever is allowed what the template says. */
export type OperationRequirement =
  | { readonly type: 'open' }
  | { readonly type: 'authenticated' }
  | RequirementTemplate;

/** Every action that a requirement speaks of. */
export function actionsIn(requires: OperationRequirement): readonly string[] {
  switch (requires.type) {
    case 'open':
    case 'authenticated':
      return [];
    case 'one':
    case 'soft':
      return [requires.action];
    case 'and':
    case 'or':
      return requires.nodes.flatMap(actionsIn);
    case 'each':
    case 'deferred':
      return actionsIn(requires.node);
    case 'choose':
      return [...actionsIn(requires.whenTrue), ...actionsIn(requires.otherwise)];
  }
}

export const open: OperationRequirement = { type: 'open' };
export const authenticated: OperationRequirement = { type: 'authenticated' };

export function one(action: string, resource: string): RequirementLeaf {
  return { type: 'one', action, resource };
}

export function soft(action: string, resource: string): RequirementLeaf {
  return { type: 'soft', action, resource };
}

export function and(...nodes: readonly RequirementTemplate[]): RequirementTemplate {
  return { type: 'and', nodes };
}

export function each(of: string, node: RequirementTemplate): RequirementTemplate {
  return { type: 'each', of, node };
}

export function deferred(reason: string, node: RequirementTemplate): RequirementTemplate {
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

/** A ref at a time counts as the branch it is about. */
export function branchOfRefArn(source: string): string {
  return `${repositoryArn}/branch/{base ${source}}`;
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

export function aliasArn(source: string): string {
  return `arn:svc:fs:::alias/{${source}}`;
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
