import { zeroTimestamp } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { collectPage } from '../context/page.ts';
import type { Page, Repository } from '../face/model.ts';
import type {
  DeletedRepository,
  ListDeletedRepositoriesOptions,
  ListRepositoriesOptions,
  Repositories,
} from '../face/repositories.ts';
import { checkTexts } from '../names/text-limits.ts';
import { createRepository } from './create-repository.ts';
import { deleteRepository } from './delete-repository.ts';
import { purgeRepository } from './purge-repository.ts';
import { changeRepositoryMetadata, getRepositoryMetadata } from './repository-metadata.ts';
import { restoreRepository } from './restore-repository.ts';
import { listTrash, type StoredDeletedRepository } from '../store/deleted-repositories.ts';
import { findInTrash, isRestorable } from './trash.ts';

export function repositories(context: EngineContext): Repositories {
  return {
    create: (options) => createRepository(context, options),
    get: async (id) => (await context.repositories.open(id)).repository,
    list: (options) => listRepositories(context, options),
    delete: (options) => deleteRepository(context, options),
    listDeleted: (options) => listDeletedRepositories(context, options),
    getDeleted: async (instance) => toDeleted(await findInTrash(context, instance)),
    restore: (options) => restoreRepository(context, options),
    purge: (options) => purgeRepository(context, options),
    getMetadata: (repository) => getRepositoryMetadata(context, repository),
    setMetadata: async ({ repository, metadata }) => {
      const scope = await context.repositories.open(repository);
      await changeRepositoryMetadata(context, scope, (current) => {
        for (const [key, value] of Object.entries(metadata)) current[key] = value;
        checkTexts('repository metadata', 'repository', Object.entries(current).flat());
      });
    },
    deleteMetadata: async ({ repository, keys }) => {
      const scope = await context.repositories.open(repository);
      await changeRepositoryMetadata(context, scope, (current) => {
        for (const key of keys) delete current[key];
      });
    },
  };
}

function listRepositories(
  context: EngineContext,
  options: ListRepositoriesOptions,
): Promise<Page<Repository>> {
  return collectPage(visibleRepositories(context, options), options.amount, (repository) => repository.id);
}

async function* visibleRepositories(
  context: EngineContext,
  options: ListRepositoriesOptions,
): AsyncGenerator<Repository> {
  for await (const data of context.repositories.list(options.prefix ?? '', options.after ?? '')) {
    if (!data.id.includes(options.search ?? '')) continue;
    const repository = context.repositories.toRepository(data);
    if (options.visible === undefined || (await options.visible(repository))) yield repository;
  }
}

async function listDeletedRepositories(
  context: EngineContext,
  options: ListDeletedRepositoriesOptions,
): Promise<Page<DeletedRepository>> {
  const visible = async function* (): AsyncGenerator<DeletedRepository> {
    for await (const stored of listTrash(context, options.prefix, options.after)) {
      const deleted = toDeleted(stored);
      if (isRestorable(context, stored) && (await options.visible?.(deleted)) !== false) yield deleted;
    }
  };
  return collectPage(visible(), options.amount, ({ id, instance }) => `${id}/${instance}`);
}

function toDeleted({ repository, data }: StoredDeletedRepository): DeletedRepository {
  return {
    id: repository.id,
    instance: repository.instanceUid,
    storageNamespace: repository.storageNamespace,
    storageId: repository.storageId,
    defaultBranch: repository.defaultBranchId,
    deletedAt: data.deletedAt,
    deletedBy: data.user,
    restorableUntil: data.due ?? zeroTimestamp,
    deleteData: data.deleteData,
    displacedBy: data.displacedBy === '' ? undefined : data.displacedBy,
  };
}
