import { Answer } from '../answer/answer.ts';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { manifestOf, manifestView } from '../views/repository.ts';
import { addressRights } from './shared/address-rights.ts';

export function internalRepositoryHandlers({
  engine,
  auth,
}: ApiOptions): HandlersOf<'internal-repositories'> {
  const { repositories, dumps, gc, metadata } = engine;
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
        actor: call.actor,
        ...addressRights(auth, call),
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
  };
}
