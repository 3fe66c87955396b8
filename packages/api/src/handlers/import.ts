import { arn, softEvery } from '@svc/auth';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { commitView } from '../views/commit.ts';
import { dateTimeView } from '../views/time.ts';
import { addressRights } from './shared/address-rights.ts';

export function importHandlers({ engine: { imports }, auth }: ApiOptions): HandlersOf<'import'> {
  return {
    async importStart(call) {
      const { params, body, actor } = call;
      for (const { type, destination } of body.paths) {
        // It replaces whatever is below its destination.
        if (type === 'common_prefix') {
          const folder = destination === '' || destination.endsWith('/') ? destination : `${destination}/`;
          await call.ensure(softEvery('fs:WriteObject', arn.object(params.repository, folder)));
        }
      }
      const id = await imports.start({
        ...params,
        paths: body.paths,
        message: body.commit.message,
        metadata: body.commit.metadata,
        force: body.force,
        actor,
        ...addressRights(auth, call),
      });
      return { id };
    },

    async importStatus({ params, query }) {
      const status = await imports.status({ repository: params.repository, id: query.id });
      return {
        completed: status.completed,
        update_time: dateTimeView(status.updateTime),
        ingested_objects: status.ingestedObjects,
        metarange_id: status.metaRangeId,
        commit: status.commit === undefined ? undefined : commitView(status.commit),
        error: status.error === undefined ? undefined : { message: `import error: ${status.error}` },
      };
    },

    async importCancel({ params, query }) {
      await imports.cancel({ repository: params.repository, id: query.id });
    },
  };
}
