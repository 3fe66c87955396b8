import { arn, one, type Requirement } from '@svc/auth';
import type { LoggedRefType } from '@svc/engine';
import type { Call, HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { commitView } from '../views/commit.ts';
import { pageView } from '../views/page.ts';
import { deletedRefView, moveView } from '../views/reflog.ts';
import { dateTimeView } from '../views/time.ts';
import { pageRequest } from './shared/page-request.ts';
import { rightsAt } from './shared/rights.ts';

const types: readonly LoggedRefType[] = ['branch', 'tag'];

type Caller = Pick<Call, 'identity' | 'client' | 'ensure'>;

export function reflogHandlers({
  engine: { commits, protection, reflog, refs },
  auth,
}: ApiOptions): HandlersOf<'reflog'> {
  /** Those of the types that the caller may see; refuses who may see none. */
  const visible = async (
    call: Caller,
    asked: readonly LoggedRefType[],
    requirement: (type: LoggedRefType) => Requirement,
  ): Promise<LoggedRefType[]> => {
    const seen: LoggedRefType[] = [];
    for (const type of asked) {
      const { allowed } = await auth.authorize(call.identity, requirement(type), call.client);
      if (allowed) seen.push(type);
    }
    const [first] = asked;
    if (seen.length === 0 && first !== undefined) await call.ensure(requirement(first));
    return seen;
  };
  const listed = (repository: string) => (type: LoggedRefType) =>
    one(type === 'branch' ? 'fs:ListBranches' : 'fs:ListTags', arn.repository(repository));

  return {
    async listReflog(call) {
      const { params, query } = call;
      const { repository } = params;
      const ref = query.ref === '' ? undefined : query.ref;
      const asked = query.ref_type === undefined ? types : [query.ref_type];
      const named = (type: LoggedRefType): Requirement =>
        type === 'branch'
          ? one('fs:ReadBranch', arn.branch(repository, ref ?? ''))
          : one('fs:ReadTag', arn.tag(repository, ref ?? ''));
      if (ref === undefined) await call.ensure(listed(repository)('branch'));
      const page = await reflog.list({
        repository,
        ref,
        types: await visible(call, asked, ref === undefined ? listed(repository) : named),
        kinds: query.kind,
        user: query.user,
        since: millis(query.since),
        until: millis(query.until),
        showHidden: query.show_hidden,
        after: query.after,
        amount: query.amount,
      });
      return pageView(page, moveView);
    },

    async getRefMove(call) {
      const { repository, move } = call.params;
      await call.ensure(listed(repository)('branch'));
      const found = await reflog.get({ repository, move });
      if (found.refType === 'tag') await call.ensure(listed(repository)('tag'));
      return moveView(found);
    },

    async expireReflog({ params, query }) {
      await reflog.expire({ repository: params.repository, before: Date.parse(query.before) });
    },

    async resolveRef({ params, query, identity, client }) {
      const { kind, commitId, branch, moveId, time } = await refs.resolve(params);
      const { repository } = params;
      const here = query.rights === true && {
        protected: branch !== undefined && (await protection.covers({ repository, branch })),
        rights: rightsAt(await auth.permissionsOf(identity, client), {
          repository,
          branch,
          path: query.path,
        }),
      };
      return {
        ...here,
        kind,
        commit_id: commitId,
        commit: commitView(await commits.get({ repository: params.repository, ref: commitId })),
        branch,
        move_id: moveId,
        time: time === undefined ? undefined : dateTimeView(time),
      };
    },

    async listDeletedRefs(call) {
      const { params, query } = call;
      const { repository } = params;
      const asked = query.type === undefined ? types : [query.type];
      const page = await reflog.listDeleted({
        repository,
        types: await visible(call, asked, listed(repository)),
        showHidden: query.show_hidden,
        ...pageRequest(query),
      });
      return pageView(page, deletedRefView);
    },

    async undeleteRef(call) {
      const { body, actor } = call;
      const { repository } = call.params;
      const { type, id, force } = body;
      const name = body.as === undefined || body.as === '' ? id : body.as;
      await call.ensure(
        type === 'branch'
          ? one('fs:CreateBranch', arn.branch(repository, name))
          : one('fs:CreateTag', arn.tag(repository, name)),
      );
      const made = await reflog.undelete({
        repository,
        type,
        id,
        as: body.as,
        moveId: body.move_id,
        force,
        actor,
      });
      return { type: made.type, id: made.id, commit_id: made.commitId, move_id: made.moveId };
    },

    async rollbackBranch({ params, body, actor }) {
      const { to, message, metadata, force } = body;
      const mode = body.mode ?? 'commit';
      const done = await reflog.rollback({ ...params, to, mode, message, metadata, force, actor });
      return {
        commit_id: done.commitId,
        previous_commit_id: done.previousCommitId,
        move_id: done.moveId,
      };
    },

    async getReflogSettings({ params }) {
      return { retention_days: (await reflog.getRetentionDays(params.repository)) ?? null };
    },

    async setReflogSettings({ params, body }) {
      const days = body.retention_days ?? undefined;
      await reflog.setRetentionDays({ repository: params.repository, days });
    },
  };
}

function millis(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : Date.parse(text);
}
