import { AuthError } from '../errors.ts';
import { checkId } from '../id-rules.ts';
import type { Statement } from '../model.ts';
import type { PolicyInput } from '../auth.ts';
import { problemOfPrincipal } from './anonymous.ts';
import { compileCondition } from './condition.ts';
import { parseArn, resourceList } from './resource-pattern.ts';

const services: ReadonlySet<string> = new Set(['fs', 'auth', 'ci', 'retention', 'branches', 'pr', 'catalog']);

const maxPolicyBytes = 65_536;
const maxStatements = 100;
const maxActions = 100;
const maxResources = 100;
const maxResourceLength = 2048;

/** Throws `invalid` unless the policy may be stored. The rules for ids concern new ones. */
export function validatePolicy(policy: PolicyInput, { isNew } = { isNew: true }): void {
  if (isNew) checkId('Policy', policy.id);
  if (policy.statement.length === 0) throw refused('a policy needs at least one statement');
  if (policy.statement.length > maxStatements) throw refused(`more than ${maxStatements} statements`);
  for (const statement of policy.statement) validateStatement(statement);
  if (Buffer.byteLength(JSON.stringify(policy.statement)) > maxPolicyBytes) {
    throw refused(`the policy is larger than ${maxPolicyBytes} bytes`);
  }
}

function validateStatement(statement: Statement): void {
  if (statement.effect !== 'allow' && statement.effect !== 'deny') {
    throw refused(`effect must be "allow" or "deny", not "${statement.effect}"`);
  }
  if (statement.action.length === 0) throw refused('a statement needs at least one action');
  if (statement.action.length > maxActions) throw refused(`more than ${maxActions} actions in a statement`);
  for (const action of statement.action) validateAction(action);
  validateResource(statement.resource);
  const problem = problemOfPrincipal(statement);
  if (problem !== undefined) throw refused(problem);
  if (statement.condition === undefined) return;
  try {
    compileCondition(statement.condition);
  } catch (error) {
    if (error instanceof RangeError) throw refused(error.message);
    throw error;
  }
}

function validateAction(action: string): void {
  const [service = '', name, ...more] = action.split(':');
  if (name === undefined || more.length > 0) throw refused(`action "${action}" must be <service>:<name>`);
  if (!services.has(service)) {
    throw refused(`action "${action}" names an unknown service; known: ${[...services].join(', ')}`);
  }
}

function validateResource(resource: string): void {
  const list = resourceList(resource);
  if (list === undefined) throw refused(`resource "${resource}" is not a JSON list of strings`);
  if (list.length === 0) throw refused('the resource list is empty');
  if (list.length > maxResources) throw refused(`more than ${maxResources} resources in a list`);
  for (const element of list) {
    if (element.length > maxResourceLength) {
      throw refused(`a resource is longer than ${maxResourceLength} characters`);
    }
    if (element !== '*' && parseArn(element) === undefined) {
      throw refused(`resource "${element}" is neither "*" nor an ARN such as arn:svc:fs:::repository/<name>`);
    }
  }
}

function refused(reason: string): AuthError {
  return new AuthError('invalid', `validation error: ${reason}`);
}
