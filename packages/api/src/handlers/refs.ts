import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { parseRfc3339 } from '../request/rfc3339.ts';
import { commitView } from '../views/commit.ts';
import { diffPageView } from '../views/object.ts';
import { pageView } from '../views/page.ts';
import { pageRequest } from './shared/page-request.ts';
import { ensureResolutions, mergeAnswer, mergeSteering } from './shared/steering.ts';

interface LogQuery {
  readonly after?: string;
  readonly amount?: number;
  readonly objects?: string[];
  readonly prefixes?: string[];
  readonly limit?: boolean;
  readonly first_parent?: boolean;
  readonly since?: string;
  readonly stop_at?: string;
}

export function refHandlers({ engine, appendTable }: ApiOptions): HandlersOf<'refs'> {
  const { commits, merges, objects, refs } = engine;

  async function log(repository: string, ref: string, query: LogQuery) {
    const page = await commits.log({
      repository,
      ref,
      after: query.after,
      amount: query.amount,
      objects: query.objects,
      prefixes: query.prefixes,
      limit: query.limit,
      firstParent: query.first_parent,
      since: query.since === undefined ? undefined : parseRfc3339(query.since),
      stopAt: query.stop_at,
    });
    return pageView(page, commitView);
  }

  return {
    logCommits({ params, query }) {
      return log(params.repository, params.ref, query);
    },

    logBranchCommits({ params, query }) {
      return log(params.repository, params.branch, query);
    },

    async listLastCommits({ params, query }) {
      const { repository } = params;
      // What is not committed was last changed by no commit.
      const { commitId: ref } = await refs.resolve(params);
      const page = await objects.list({ repository, ref, ...pageRequest(query), delimiter: '/' });
      const paths = page.toArray().map(({ path }) => path);
      const { hasMore, nextOffset } = page;
      page.release();
      const { found, complete } = await commits.last({ repository, ref, prefix: query.prefix ?? '', paths });
      const shown = new Map([...found.values()].map((commit) => [commit.id, commit]));
      return {
        ...pageView({ items: [...found], hasMore, nextOffset }, ([path, { id }]) => ({
          path,
          commit_id: id,
        })),
        commits: [...shown.values()].map(commitView),
        complete,
      };
    },

    getDivergence: ({ params }) =>
      commits.divergence({ repository: params.repository, left: params.leftRef, right: params.rightRef }),

    async findMergeBase({ params }) {
      const base = await merges.findBase({
        repository: params.repository,
        source: params.sourceRef,
        destination: params.destinationBranch,
      });
      return {
        source_commit_id: base.sourceCommitId,
        destination_commit_id: base.destinationCommitId,
        base_commit_id: base.baseCommitId,
      };
    },

    async mergeIntoBranch(call) {
      const { params, body, actor } = call;
      await ensureResolutions(call, body?.resolutions);
      const between = {
        repository: params.repository,
        source: params.sourceRef,
        destination: params.destinationBranch,
      };
      const steering = await mergeSteering(call, appendTable, between, body);
      return mergeAnswer(body, () =>
        merges.merge({
          ...between,
          message: body?.message,
          metadata: body?.metadata,
          force: body?.force,
          allowEmpty: body?.allow_empty,
          squash: body?.squash_merge,
          ...steering,
          actor,
        }),
      );
    },

    async diffRefs({ params, query }) {
      const page = await refs.diff({
        repository: params.repository,
        left: params.leftRef,
        right: params.rightRef,
        type: query.type,
        prefix: query.prefix,
        after: query.after,
        amount: query.amount,
        delimiter: query.delimiter,
      });
      return diffPageView(page, query.include_right_stats);
    },
  };
}
