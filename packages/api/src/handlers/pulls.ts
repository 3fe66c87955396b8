import { arn, one } from '@svc/auth';
import type { PullRequest } from '@svc/engine';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { pageView } from '../views/page.ts';
import { dateTimeView } from '../views/time.ts';
import { pageRequest } from './shared/page-request.ts';
import { ensureResolutions, mergeAnswer, mergeSteering } from './shared/steering.ts';

export function pullHandlers({ engine: { pulls }, appendTable }: ApiOptions): HandlersOf<'pulls'> {
  return {
    async listPullRequests({ params, query }) {
      const page = await pulls.list({
        repository: params.repository,
        ...pageRequest(query),
        status: query.status,
      });
      return pageView(page, pullView);
    },

    async createPullRequest({ params, body, actor }) {
      const { id } = await pulls.create({
        repository: params.repository,
        title: body.title,
        description: body.description,
        source: body.source_branch,
        destination: body.destination_branch,
        actor,
      });
      return { id };
    },

    async getPullRequest({ params }) {
      return pullView(await pulls.get({ repository: params.repository, id: params.pull_request }));
    },

    async updatePullRequest({ params, body, actor }) {
      await pulls.update({ repository: params.repository, id: params.pull_request, ...body, actor });
    },

    async mergePullRequest(call) {
      const { params, body, actor } = call;
      const target = { repository: params.repository, id: params.pull_request };
      const { source, destination } = await pulls.get(target);
      await call.ensure(one('fs:CreateCommit', arn.branch(params.repository, destination)));
      await ensureResolutions(call, body?.resolutions);
      const refs = { repository: params.repository, source, destination };
      const steering = await mergeSteering(call, appendTable, refs, body);
      return mergeAnswer(body, () =>
        pulls.merge({
          ...target,
          message: body?.message,
          metadata: body?.metadata,
          squash: body?.squash_merge,
          ...steering,
          actor,
        }),
      );
    },
  };
}

function pullView(pull: PullRequest) {
  return {
    status: pull.status,
    title: pull.title,
    description: pull.description,
    id: pull.id,
    creation_date: dateTimeView(pull.creationDate),
    author: pull.author,
    source_branch: pull.source,
    destination_branch: pull.destination,
    merged_commit_id: pull.mergedCommitId,
    closed_date: pull.closedDate === undefined ? undefined : dateTimeView(pull.closedDate),
  };
}
