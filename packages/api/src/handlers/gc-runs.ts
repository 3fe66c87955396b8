import { and, arn, one } from '@svc/auth';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { gcRulesOf } from '../views/gc-rules.ts';
import { gcRunView } from '../views/gc-runs.ts';
import { pageView } from '../views/page.ts';

export function gcRunsHandlers({ engine: { gcRuns } }: ApiOptions): HandlersOf<'gc-runs'> {
  return {
    async startGCRun({ params, body, identity }) {
      const id = await gcRuns.start({
        repository: params.repository,
        user: identity.user.username,
        dryRun: body?.dry_run,
        hard: body?.hard,
        classes: body?.classes,
        maxPercent: body?.max_percent,
        takeOver: body?.take_over,
        rules: body?.rules === undefined ? undefined : gcRulesOf(body.rules),
      });
      return { id };
    },

    async listGCRuns({ params, query }) {
      const { after, amount } = query;
      return pageView(await gcRuns.list({ repository: params.repository, after, amount }), gcRunView);
    },

    async getGCRun({ params }) {
      return gcRunView(await gcRuns.get(params));
    },

    async listGCRunObjects({ params, query }) {
      const page = await gcRuns.listObjects({ ...params, ...query });
      return pageView(page, (item) => ({
        address: item.address,
        size_bytes: item.size,
        class: item.class,
        condemned_at: item.condemnedAt,
      }));
    },

    async cancelGCRun({ params }) {
      await gcRuns.cancel(params);
    },

    async getGCQuarantine({ params }) {
      const { objects, bytes, oldest, nextDue } = await gcRuns.quarantine(params.repository);
      return { objects, bytes, oldest, next_due: nextDue };
    },

    async rescueGarbage(call) {
      const { params, body, identity } = call;
      const { repository } = params;
      const mayRun = one('retention:RunGarbageCollection', arn.repository(repository));
      const namesRef = body.ref !== undefined && body.ref !== '';
      await call.ensure(namesRef ? and(mayRun, one('fs:ReadCommit', arn.repository(repository))) : mayRun);
      await gcRuns.rescue({ repository, user: identity.user.username, ...body });
    },

    async getGCSettings({ params }) {
      const { enabled, intervalHours, quarantineHours } = await gcRuns.getSettings(params.repository);
      return { enabled, interval_hours: intervalHours, quarantine_hours: quarantineHours };
    },

    async setGCSettings({ params, body }) {
      const { enabled, interval_hours: intervalHours, quarantine_hours: quarantineHours } = body;
      const settings = { enabled, intervalHours, quarantineHours };
      await gcRuns.setSettings({ repository: params.repository, settings });
    },
  };
}
