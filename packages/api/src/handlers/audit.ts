import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { RequestError } from '../request/request-error.ts';
import { auditEntryView } from '../views/audit.ts';
import { paginationView } from '../views/page.ts';

const defaultAmount = 100;

export function auditHandlers({ audit }: ApiOptions): HandlersOf<'audit'> {
  return {
    async listAuditEntries({ query }) {
      if (audit === undefined) throw new RequestError(501, 'the audit log is switched off (audit.enabled)');
      const { amount = 0 } = query;
      const page = await audit.read({
        user: query.user,
        action: query.action,
        resource: query.resource,
        result: query.result,
        sourceIp: query.source_ip,
        since: query.since === undefined ? undefined : Date.parse(query.since),
        until: query.until === undefined ? undefined : Date.parse(query.until),
        after: query.after,
        amount: amount <= 0 ? defaultAmount : amount,
      });
      return {
        pagination: paginationView(page.hasMore, page.nextOffset, page.results.length),
        results: page.results.map(auditEntryView),
        searched_until:
          page.searchedUntil === undefined ? undefined : new Date(page.searchedUntil).toISOString(),
      };
    },
  };
}
