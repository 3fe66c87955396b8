import { and, arn, one, soft, softEvery } from '@svc/auth';
import type { Requirement } from '@svc/auth';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { pageView } from '../views/page.ts';
import { deletedRepositoryView, manifestOf, manifestView, repositoryView } from '../views/repository.ts';
import { dateTimeView } from '../views/time.ts';
import { addressRights } from './shared/address-rights.ts';
import { pageRequest } from './shared/page-request.ts';
import { summaryOf } from './shared/repository-summary.ts';

export function repositoryHandlers({ engine, auth }: ApiOptions): HandlersOf<'repositories'> {
  const { repositories, dumps } = engine;
  return {
    async listRepositories({ query, identity, client }) {
      const permissions = await auth.permissionsOf(identity, client);
      const page = await repositories.list({
        ...pageRequest(query),
        search: query.search,
        visible: ({ id }) => !permissions.isDenied('fs:ListRepositories', arn.repository(id)),
      });
      if (query.summary !== true) return pageView(page, repositoryView);
      const summaries = await Promise.all(page.items.map((each) => summaryOf(engine, each, permissions)));
      return {
        ...pageView(page, repositoryView),
        results: page.items.map((each, index) => ({ ...repositoryView(each), summary: summaries[index] })),
        may_create: permissions.maySome('fs:CreateRepository', arn.repository('')),
      };
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

    async getRepository({ params, query, identity, client }) {
      const repository = await repositories.get(params.repository);
      if (query.summary !== true) return repositoryView(repository);
      const permissions = await auth.permissionsOf(identity, client);
      return { ...repositoryView(repository), summary: await summaryOf(engine, repository, permissions) };
    },

    async deleteRepository({ params, query, actor }) {
      const { force, purge, delete_data: deleteData } = query;
      await repositories.delete({ repository: params.repository, force, purge, deleteData, actor });
    },

    async listDeletedRepositories({ query, identity, client }) {
      const permissions = await auth.permissionsOf(identity, client);
      const page = await repositories.listDeleted({
        ...pageRequest(query),
        visible: ({ id }) => !permissions.isDenied('fs:ListRepositories', arn.repository(id)),
      });
      return pageView(page, deletedRepositoryView);
    },

    async restoreRepository(call) {
      const { instance } = call.params;
      const { id, storageNamespace } = await repositories.getDeleted(instance);
      await call.ensure(and(one('fs:CreateRepository', arn.repository(id)), ...mayAttach(storageNamespace)));
      return repositoryView(await repositories.restore({ instance, actor: call.actor }));
    },

    async purgeRepository(call) {
      const { instance } = call.params;
      const deleteData = call.query.delete_data === true;
      const repository = arn.repository((await repositories.getDeleted(instance)).id);
      const mayDelete = one('fs:DeleteRepository', repository);
      await call.ensure(
        deleteData ? and(mayDelete, one('retention:RunGarbageCollection', repository)) : mayDelete,
      );
      await repositories.purge({ instance, deleteData });
    },

    async getRepositoryMetadata({ params }) {
      return { ...(await repositories.getMetadata(params.repository)) };
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
        actor: call.actor,
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
