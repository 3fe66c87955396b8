import type { Simulation, SimulationRequest } from '../auth.ts';
import { AuthError } from '../errors.ts';
import { CompiledPolicies } from '../policy/compiled-policies.ts';
import { ConditionContext } from '../policy/condition.ts';
import { validatePolicy } from '../policy/policy-validation.ts';
import { parseArn } from '../policy/resource-pattern.ts';
import type { HeldPolicy } from './effective-policies.ts';

/** What a check of the user would answer now, and why. Policies are read from the store, not from a cache. */
export async function simulate(
  request: SimulationRequest,
  heldPolicies: (username: string) => Promise<readonly HeldPolicy[]>,
): Promise<Simulation> {
  const { username, action, resource, sourceIp, draft } = request;
  if (!/^[a-z]+:[A-Za-z]+$/.test(action)) {
    throw invalid(`action "${action}" must be one action such as fs:ReadObject`);
  }
  if (resource !== '*' && parseArn(resource) === undefined) {
    throw invalid(`resource "${resource}" is neither "*" nor an ARN such as arn:svc:fs:::repository/<name>`);
  }
  if (draft !== undefined) validatePolicy(draft, { isNew: false });
  const stored = await heldPolicies(username);
  const held =
    draft === undefined
      ? stored
      : [...stored.filter(({ policy }) => policy.id !== draft.id), draftPolicy(draft, stored)];
  const policies = held.map(({ policy }) => policy);
  const compiled = new CompiledPolicies(username, policies);
  const { decision, decidedBy } = compiled.explain(action, resource, new ConditionContext(sourceIp));
  const statement = policies.find(({ id }) => id === decidedBy?.policyId)?.statement[decidedBy?.index ?? -1];
  return {
    decision,
    decidedBy: decidedBy === undefined || statement === undefined ? undefined : { ...decidedBy, statement },
    policies: held.map(({ policy, isDirect, groups }) => ({ id: policy.id, isDirect, groups })),
  };
}

/** A draft counts as attached as the policy of its name is. */
function draftPolicy(
  draft: NonNullable<SimulationRequest['draft']>,
  stored: readonly HeldPolicy[],
): HeldPolicy {
  const replaced = stored.find(({ policy }) => policy.id === draft.id);
  return {
    policy: { ...draft, createdAt: 0 },
    isDirect: replaced?.isDirect ?? false,
    groups: replaced?.groups ?? [],
  };
}

function invalid(reason: string): AuthError {
  return new AuthError('invalid', `validation error: ${reason}`);
}
