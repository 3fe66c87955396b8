import { EngineError } from '@svc/engine';
import { Answer } from '../answer/answer.ts';
import type { Handlers } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { manifestOf, manifestView } from '../views/repository.ts';
import { addressRights } from './address-rights.ts';

type Ids =
  | 'setRepositoryMetadata'
  | 'deleteRepositoryMetadata'
  | 'dumpRefs'
  | 'restoreRefs'
  | 'CreateCommitRecord'
  | 'createSymlinkFile'
  | 'getMetadataObject'
  | 'createBranchProtectionRulePreflight'
  | 'internalGetBranchProtectionRules'
  | 'internalCreateBranchProtectionRule'
  | 'internalDeleteBranchProtectionRule';

export function internalRepositoryHandlers({ engine, auth }: ApiOptions): Handlers<Ids> {
  const { repositories, dumps, commits, gc, metadata, protection } = engine;
  return {
    async setRepositoryMetadata({ params, body }) {
      await repositories.setMetadata({ repository: params.repository, metadata: body.metadata });
    },

    async deleteRepositoryMetadata({ params, body }) {
      await repositories.deleteMetadata({ repository: params.repository, keys: body.keys });
    },

    async dumpRefs({ params }) {
      return manifestView(await dumps.dump(params.repository));
    },

    async restoreRefs(call) {
      const { params, body } = call;
      await dumps.restore({
        repository: params.repository,
        manifest: manifestOf(body),
        force: body.force,
        ...addressRights(auth, call),
      });
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

    async createSymlinkFile({ params, query }) {
      const { repository, branch } = params;
      return { location: await gc.createSymlinks({ repository, branch, location: query.location }) };
    },

    async getMetadataObject({ params, query }) {
      const target = {
        repository: params.repository,
        type: params.type as 'range' | 'meta_range',
        id: params.object_id,
      };
      if (query.presign === true) {
        const { url } = await metadata.presign(target);
        return new Answer(302, { location: url });
      }
      const body = await metadata.open(target);
      const headers = { 'content-type': 'application/octet-stream', 'content-length': body.size };
      return new Answer(200, headers, body.bytes ?? body);
    },

    createBranchProtectionRulePreflight() {
      return undefined;
    },

    async internalGetBranchProtectionRules({ params }) {
      const rules = await protection.get(params.repository);
      return Answer.json(
        200,
        rules.patterns.map((pattern) => ({ pattern })),
        { etag: rules.etag },
      );
    },

    async internalCreateBranchProtectionRule({ params, body }) {
      await protection.add({ repository: params.repository, pattern: body.pattern });
    },

    async internalDeleteBranchProtectionRule({ params, body }) {
      try {
        await protection.remove({ repository: params.repository, pattern: body.pattern });
        return undefined;
      } catch (error) {
        if (error instanceof EngineError && error.kind === 'not_found' && error.subject === 'rules') {
          return new Answer(404);
        }
        throw error;
      }
    },
  };
}
