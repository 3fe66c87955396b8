import { Answer } from '../answer/answer.ts';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { commitView, refView } from '../views/commit.ts';
import { diffPageView } from '../views/object.ts';
import { pageView } from '../views/page.ts';
import { pageRequest } from './shared/page-request.ts';
import { ensureResolutions, steering } from './shared/steering.ts';

export function branchHandlers({ engine }: ApiOptions): HandlersOf<'branches'> {
  const { branches, commits, refs } = engine;
  return {
    async listBranches({ params, query }) {
      const page = await branches.list({
        repository: params.repository,
        ...pageRequest(query),
        search: query.search,
        showHidden: query.show_hidden,
      });
      return pageView(page, refView);
    },

    async createBranch({ params, body, actor }) {
      const created = await branches.create({
        repository: params.repository,
        name: body.name,
        source: body.source,
        force: body.force,
        hidden: body.hidden,
        actor,
      });
      return new Answer(
        201,
        { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
        created.commitId,
      );
    },

    async getBranch({ params }) {
      return refView(await branches.get(params));
    },

    async resetBranch({ params, body, actor }) {
      await branches.reset({ ...params, type: body.type, path: body.path, force: body.force, actor });
    },

    async deleteBranch({ params, query, actor }) {
      await branches.delete({ ...params, force: query.force, actor });
    },

    async hardResetBranch({ params, query, actor }) {
      await branches.hardReset({ ...params, ref: query.ref, force: query.force, actor });
    },

    async revertBranch(call) {
      const { params, body, actor } = call;
      await ensureResolutions(call, body.resolutions);
      await commits.revert({
        ...params,
        ref: body.ref,
        parentNumber: body.parent_number,
        overrides: body.commit_overrides,
        allowEmpty: body.allow_empty,
        force: body.force,
        ...steering(body),
        actor,
      });
    },

    async cherryPick(call) {
      const { params, body, actor } = call;
      await ensureResolutions(call, body.resolutions);
      const picked = await commits.cherryPick({
        ...params,
        ref: body.ref,
        parentNumber: body.parent_number,
        overrides: body.commit_overrides,
        force: body.force,
        ...steering(body),
        actor,
      });
      return commitView(picked);
    },

    async diffBranch({ params, query }) {
      const page = await refs.diffUncommitted({
        ...params,
        ...pageRequest(query),
        delimiter: query.delimiter,
      });
      return diffPageView(page);
    },
  };
}
