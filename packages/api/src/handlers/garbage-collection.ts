import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { dateTimeView } from '../views/time.ts';

export function garbageCollectionHandlers({ engine: { gc } }: ApiOptions): HandlersOf<'garbage-collection'> {
  return {
    getGarbageCollectionConfig() {
      return { grace_period: gc.graceSeconds };
    },

    async prepareGarbageCollectionCommits({ params }) {
      const prepared = await gc.prepareCommits(params.repository);
      return {
        run_id: prepared.runId,
        gc_commits_location: prepared.commitsLocation,
        gc_addresses_location: prepared.addressesLocation,
        gc_commits_presigned_url: prepared.presigned?.url,
      };
    },

    async prepareGarbageCollectionCommitsAsync({ params }) {
      return { id: await gc.submitPrepareCommits(params.repository) };
    },

    async prepareGarbageCollectionCommitsStatus({ params, query }) {
      const state = await gc.prepareCommitsStatus({ repository: params.repository, taskId: query.id });
      const { result, error } = state;
      return {
        task_id: state.id,
        completed: state.done,
        update_time: dateTimeView(state.updateTime),
        result:
          result === undefined
            ? undefined
            : {
                run_id: result.runId,
                gc_commits_location: result.commitsLocation,
                gc_addresses_location: result.addressesLocation,
              },
        error: error === undefined ? undefined : { message: error },
      };
    },

    async prepareGarbageCollectionUncommitted({ params, body }) {
      const prepared = await gc.prepareUncommitted({
        repository: params.repository,
        continuationToken: body?.continuation_token,
      });
      return {
        run_id: prepared.runId,
        gc_uncommitted_location: prepared.location,
        continuation_token: prepared.continuationToken,
      };
    },
  };
}
