import type { Simulation } from '@svc/auth';
import { statementView } from './identity.ts';

/** Shows only the policies that the asker may read; the others are counted. */
export function simulationView(simulation: Simulation, mayRead: (policyId: string) => boolean) {
  const { decision, decidedBy, policies } = simulation;
  const shown = policies.filter(({ id }) => mayRead(id));
  const isShown = decidedBy !== undefined && mayRead(decidedBy.policyId);
  // The text of a refusal quotes the statement that denies.
  const tellsMessage = !decision.allowed && (decidedBy === undefined || isShown);
  return {
    allowed: decision.allowed,
    message: tellsMessage ? decision.message : undefined,
    reason: decision.allowed
      ? ('allowed' as const)
      : decidedBy === undefined
        ? ('not_allowed' as const)
        : ('denied' as const),
    decided_by: isShown
      ? {
          policy: decidedBy.policyId,
          index: decidedBy.index,
          statement: statementView(decidedBy.statement),
        }
      : undefined,
    policies: shown.map(({ id, isDirect, groups }) => ({ id, attached_to_user: isDirect, groups })),
    hidden_policies: policies.length - shown.length,
  };
}
