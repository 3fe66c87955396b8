import type { Requirement } from './requirement.ts';

/**
 * The requirement of an operation with placeholders, as declared beside its route. A resource is `*` or a path
 * such as `repository/{repository}/object/{path}`, `namespace/{storage_namespace}` or `user/{userId}`.
 */
export type RequirementTemplate =
  | { readonly action: string; readonly resource: string; readonly soft?: boolean }
  | { readonly and: readonly RequirementTemplate[] }
  | { readonly or: readonly RequirementTemplate[] };

const serviceOfRoot: Readonly<Record<string, string>> = {
  repository: 'fs',
  namespace: 'fs',
  user: 'auth',
  group: 'auth',
  policy: 'auth',
  externalPrincipal: 'auth',
};

/** Turns a template and the request's decoded values into a requirement. A missing value is a programming error. */
export function requirementFrom(
  template: RequirementTemplate,
  values: Readonly<Record<string, string | undefined>>,
): Requirement {
  if ('and' in template) {
    return { type: 'and', nodes: template.and.map((node) => requirementFrom(node, values)) };
  }
  if ('or' in template) return { type: 'or', nodes: template.or.map((node) => requirementFrom(node, values)) };
  return {
    type: template.soft === true ? 'soft' : 'one',
    action: template.action,
    resource: resourceFrom(template.resource, values),
  };
}

/** The ARN of a resource path, its placeholders filled. */
export function resourceFrom(path: string, values: Readonly<Record<string, string | undefined>>): string {
  if (path === '*') return '*';
  const slash = path.indexOf('/');
  const service = serviceOfRoot[path.slice(0, slash)];
  if (service === undefined) throw new TypeError(`"${path}" names no kind of resource`);
  const filled = path.replace(/\{([^{}]+)\}/g, (_placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`no value for {${name}} in resource "${path}"`);
    return value;
  });
  return `arn:svc:${service}:::${filled}`;
}
