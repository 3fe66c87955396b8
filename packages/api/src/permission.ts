import { requirementOf as requirementOfTemplate, type RequirementOf } from '@svc/auth';
import type { Permission, PermissionNode } from '@svc/contract';

/** Works out what one request must be allowed; undefined when the operation checks everything itself. */
export function requirementOf(permission: Permission): RequirementOf {
  if (permission.type === 'open' || permission.type === 'authenticated') return () => undefined;
  return requirementOfTemplate(permission);
}

/** Whether what must be allowed depends on the body, so that the body has to be read first. */
export function speaksOfBody(permission: Permission): boolean {
  return permission.type !== 'open' && permission.type !== 'authenticated' && nodeSpeaksOfBody(permission);
}

function nodeSpeaksOfBody(node: PermissionNode): boolean {
  switch (node.type) {
    case 'one':
    case 'soft':
      return node.resource.includes('{body.');
    case 'and':
    case 'or':
      return node.nodes.some(nodeSpeaksOfBody);
    case 'each':
      return true;
    case 'choose':
      return nodeSpeaksOfBody(node.whenTrue) || nodeSpeaksOfBody(node.otherwise);
    case 'deferred':
      return false;
  }
}
