import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { commitView } from '../views/commit.ts';
import { addressRights } from './shared/address-rights.ts';

export function commitHandlers({ engine: { commits }, auth }: ApiOptions): HandlersOf<'commits'> {
  return {
    async commit(call) {
      const { params, query, body, actor } = call;
      const created = await commits.create({
        ...params,
        message: body.message,
        metadata: body.metadata,
        date: body.date,
        allowEmpty: body.allow_empty,
        force: body.force,
        sourceMetaRange: query.source_metarange,
        actor,
        ...addressRights(auth, call),
      });
      return commitView(created);
    },

    async getCommit({ params }) {
      return commitView(await commits.get({ repository: params.repository, ref: params.commitId }));
    },

    async CreateCommitRecord(call) {
      const { params, body } = call;
      await commits.createRecord({
        ...addressRights(auth, call),
        repository: params.repository,
        force: body.force,
        commit: {
          id: body.commit_id,
          version: body.version,
          committer: body.committer,
          message: body.message,
          metaRangeId: body.metarange_id,
          creationDate: body.creation_date,
          parents: body.parents,
          metadata: body.metadata,
          generation: body.generation,
        },
      });
    },
  };
}
