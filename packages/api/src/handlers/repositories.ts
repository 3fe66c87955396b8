import { and, arn, soft, softEvery } from '@svc/auth';
import type { Requirement } from '@svc/auth';
import { Answer } from '../answer/answer.ts';
import type { Handlers } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { pageView } from '../views/page.ts';
import { manifestOf, manifestView, repositoryView } from '../views/repository.ts';
import { dateTimeView } from '../views/time.ts';
import { addressRights } from './address-rights.ts';
import { gcRulesOf, gcRulesView } from './gc-rules.ts';
import { pageRequest } from './page-request.ts';

type Ids =
  | 'listRepositories'
  | 'createRepository'
  | 'getRepository'
  | 'deleteRepository'
  | 'getRepositoryMetadata'
  | 'getGCRules'
  | 'setGCRules'
  | 'deleteGCRules'
  | 'getBranchProtectionRules'
  | 'setBranchProtectionRules'
  | 'dumpSubmit'
  | 'dumpStatus'
  | 'restoreSubmit'
  | 'restoreStatus';

export function repositoryHandlers({ engine, auth }: ApiOptions): Handlers<Ids> {
  const { repositories, protection, gc, dumps } = engine;
  return {
    async listRepositories({ query, identity, client }) {
      const permissions = await auth.permissionsOf(identity, client);
      const page = await repositories.list({
        ...pageRequest(query),
        search: query.search,
        visible: ({ id }) => !permissions.isDenied('fs:ListRepositories', arn.repository(id)),
      });
      return pageView(page, repositoryView);
    },

    async createRepository(call) {
      const { query, body, actor } = call;
      const created = await repositories.create({
        name: body.name,
        storageId: body.storage_id,
        storageNamespace: body.storage_namespace,
        defaultBranch: body.default_branch,
        bare: query.bare,
        readOnly: body.read_only,
        sampleData: body.sample_data,
        ...addressRights(auth, call),
        checkAttach: (spellings) => call.ensure(and(...spellings.flatMap(mayAttach))),
        actor,
      });
      const view = repositoryView(created);
      return query.bare === true ? { ...view, read_only: undefined } : view;
    },

    async getRepository({ params }) {
      return repositoryView(await repositories.get(params.repository));
    },

    async deleteRepository({ params, query }) {
      await repositories.delete({ repository: params.repository, force: query.force });
    },

    async getRepositoryMetadata({ params }) {
      return { ...(await repositories.getMetadata(params.repository)) };
    },

    async getGCRules({ params }) {
      return gcRulesView(await gc.getRules(params.repository));
    },

    async setGCRules({ params, body }) {
      await gc.setRules({ repository: params.repository, rules: gcRulesOf(body) });
    },

    async deleteGCRules({ params }) {
      await gc.deleteRules(params.repository);
    },

    async getBranchProtectionRules({ params }) {
      const rules = await protection.get(params.repository);
      return Answer.json(
        200,
        rules.patterns.map((pattern) => ({ pattern })),
        { etag: rules.etag },
      );
    },

    async setBranchProtectionRules({ params, headers, body }) {
      const ifMatch = headers['if-match'];
      await protection.set({
        repository: params.repository,
        patterns: body.map(({ pattern }) => pattern),
        ifMatch: ifMatch?.replace(/^"(.*)"$/, '$1'),
      });
    },

    async dumpSubmit({ params }) {
      return { id: await dumps.submitDump(params.repository) };
    },

    async dumpStatus({ params, query }) {
      const state = await dumps.dumpStatus({ repository: params.repository, taskId: query.task_id });
      return {
        id: state.id,
        done: state.done,
        update_time: dateTimeView(state.updateTime),
        error: state.error,
        refs: state.refs === undefined ? undefined : manifestView(state.refs),
      };
    },

    async restoreSubmit(call) {
      const { params, body } = call;
      const id = await dumps.submitRestore({
        repository: params.repository,
        manifest: manifestOf(body),
        force: body.force,
        ...addressRights(auth, call),
      });
      return { id };
    },

    async restoreStatus({ params, query }) {
      const state = await dumps.restoreStatus({ repository: params.repository, taskId: query.task_id });
      return {
        id: state.id,
        done: state.done,
        update_time: dateTimeView(state.updateTime),
        error: state.error,
      };
    },
  };
}

/** Neither the namespace nor anything in it is denied. */
function mayAttach(namespace: string): Requirement[] {
  const action = 'fs:AttachStorageNamespace';
  return [soft(action, arn.namespace(namespace)), softEvery(action, arn.namespace(`${namespace}/`))];
}
