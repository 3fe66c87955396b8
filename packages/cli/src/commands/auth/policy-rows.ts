import type { components } from '@svc/client';
import type { CommandContext } from '../../context.ts';
import { formatDate } from '../../output/format.ts';
import { fetchPages, type PageFlags } from '../../pagination.ts';

type Policy = components['schemas']['Policy'];
type PolicyPage = components['schemas']['PolicyList'];

/** The policies of a user or group, one row per statement. */
export async function printPolicies(
  context: CommandContext,
  flags: PageFlags,
  fetchPage: (query: { amount: number; after: string; prefix: string }) => Promise<PolicyPage>,
): Promise<void> {
  const { out } = context;
  const { results, pagination } = await fetchPages(flags, fetchPage);
  if (out.json) {
    out.document({ pagination, results });
    return;
  }
  out.table(
    ['Policy ID', 'Creation Date', 'Statement #', 'Resource', 'Effect', 'Actions'],
    results.flatMap(rowsOf),
  );
  out.paginationHint(flags.amount, pagination);
  out.line();
}

function rowsOf(policy: Policy): string[][] {
  return policy.statement.map((statement, at) => [
    policy.id,
    formatDate(policy.creation_date ?? 0),
    String(at),
    statement.resource,
    statement.principal === undefined ? statement.effect : `${statement.effect} anonymous`,
    statement.action.join(', '),
  ]);
}
