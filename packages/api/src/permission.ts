import { requirementOf as requirementOfTemplate, type RequirementOf } from '@svc/auth';
import type { Permission } from '@svc/contract';

/** Works out what one request must be allowed; undefined when the operation checks everything itself. */
export function requirementOf(permission: Permission): RequirementOf {
  if (permission.type === 'open' || permission.type === 'authenticated') return () => undefined;
  return requirementOfTemplate(permission);
}
