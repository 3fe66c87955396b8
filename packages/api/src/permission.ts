import { requirementFrom } from '@svc/auth';
import type { Requirement, TemplateValues } from '@svc/auth';
import type { Permission } from '@svc/contract';

/** Works out what one request must be allowed; undefined when the operation checks everything itself. */
export type RequirementOf = (values: TemplateValues) => Requirement | undefined;

export function requirementOf(permission: Permission): RequirementOf {
  if (permission.type === 'open' || permission.type === 'authenticated') return () => undefined;
  return (values) => requirementFrom(permission, values);
}
