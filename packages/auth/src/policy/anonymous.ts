import type { Statement } from '../model.ts';
import { parseArn, resourceList } from './resource-pattern.ts';

/** Whoever sends a request without credentials. A symbol, so that no user's name is taken for it. */
export const anonymous = Symbol('anonymous');

/** The only value of `principal`. */
export const anonymousPrincipal = 'anonymous';

/** All that requests without credentials can be allowed. */
const anonymousActions: ReadonlySet<string> = new Set([
  'fs:ReadObject',
  'fs:ListObjects',
  'fs:ReadRepository',
  'fs:ListBranches',
]);

export function namesAnonymous({ statement }: { readonly statement: readonly Statement[] }): boolean {
  return statement.some(({ principal }) => principal !== undefined);
}

/**
 * The statements that speak of anonymous requests. An allowance keeps only the actions that may be allowed, whatever
 * was stored.
 */
export function anonymousStatements(statements: readonly Statement[]): Statement[] {
  return statements
    .filter(({ principal }) => principal?.includes(anonymousPrincipal))
    .map((statement) =>
      statement.effect === 'allow'
        ? { ...statement, action: statement.action.filter((action) => anonymousActions.has(action)) }
        : statement,
    );
}

/** What is wrong with a statement that has a principal. A denial may be as wide as any; an allowance must be narrow. */
export function problemOfPrincipal({ effect, action, resource, principal }: Statement): string | undefined {
  if (principal === undefined) return undefined;
  if (principal.length !== 1 || principal[0] !== anonymousPrincipal)
    return `principal must be ["${anonymousPrincipal}"] or absent`;
  if (effect !== 'allow') return undefined;
  const refusedAction = action.find((each) => !anonymousActions.has(each));
  if (refusedAction !== undefined)
    return `anonymous requests cannot be allowed "${refusedAction}", only ${[...anonymousActions].join(', ')}`;
  const refusedResource = (resourceList(resource) ?? []).find((each) => !namesRepository(each));
  if (refusedResource !== undefined)
    return `resource "${refusedResource}" must name the repository that anonymous requests may read, such as arn:svc:fs:::repository/<name>/object/*`;
  return undefined;
}

function namesRepository(resource: string): boolean {
  const arn = parseArn(resource);
  return arn?.service === 'fs' && arn.account === '' && /^repository\/[a-z0-9-]+(?:\/|$)/.test(arn.resource);
}
