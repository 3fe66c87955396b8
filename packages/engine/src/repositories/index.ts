import type { EngineContext } from '../context/engine-context.ts';
import { collectPage } from '../context/page.ts';
import type { Page, Repository } from '../face/model.ts';
import type { ListRepositoriesOptions, Repositories } from '../face/repositories.ts';
import { checkTexts } from '../names/text-limits.ts';
import { createRepository } from './create-repository.ts';
import { deleteRepository } from './delete-repository.ts';
import { changeRepositoryMetadata, getRepositoryMetadata } from './repository-metadata.ts';

export function repositories(context: EngineContext): Repositories {
  return {
    create: (options) => createRepository(context, options),
    get: async (id) => (await context.repositories.open(id)).repository,
    list: (options) => listRepositories(context, options),
    delete: (options) => deleteRepository(context, options),
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
