import { requirementFrom } from '@svc/auth';
import type { Requirement, TemplateValues } from '@svc/auth';
import type { Permission, PermissionLeaf } from '@svc/contract';

/** Works out what one request must be allowed; undefined when the operation checks everything itself. */
export type RequirementOf = (values: TemplateValues) => Requirement | undefined;

/** Prepares an operation's permission. Most are one leaf with plain placeholders, which is filled directly. */
export function requirementOf(permission: Permission): RequirementOf {
  switch (permission.type) {
    case 'open':
    case 'authenticated':
      return () => undefined;
    case 'one':
    case 'soft':
      return leafOf(permission);
    case 'and':
    case 'or':
    case 'each':
    case 'choose':
    case 'deferred':
      return (values) => requirementFrom(permission, values);
  }
}

type Fill = (values: TemplateValues) => string;

function leafOf(leaf: PermissionLeaf): RequirementOf {
  const { type, action, resource } = leaf;
  const fills: Fill[] = [];
  for (const part of resource.split(/(\{[^{}]+\})/)) {
    if (part === '') continue;
    const [, place = '', name = ''] = /^\{(\w+)\.(\w+)\}$/.exec(part) ?? [];
    if (place === 'path') fills.push(({ path }) => textOf(path[name], part));
    else if (place === 'query') fills.push(({ query }) => textOf(query[name], part));
    else if (part.startsWith('{')) return (values) => requirementFrom(leaf, values);
    else fills.push(() => part);
  }
  return (values) => {
    let filled = '';
    for (const fill of fills) filled += fill(values);
    return { type, action, resource: filled };
  };
}

function textOf(value: unknown, placeholder: string): string {
  if (typeof value !== 'string') throw new TypeError(`no value for ${placeholder}`);
  return value;
}
