import type { BlockStores } from '@svc/block';
import type { Engine } from '@svc/engine';

/** Repositories whose namespace does not fit their store, each as a sentence. */
export async function findMismatchedRepositories(
  engine: Pick<Engine, 'repositories'>,
  blocks: BlockStores,
): Promise<string[]> {
  const problems: string[] = [];
  let after: string | undefined;
  do {
    const page = await engine.repositories.list({ after, amount: 1000 });
    for (const repository of page.items) {
      try {
        blocks.get(repository.storageId ?? '').validateNamespace(repository.storageNamespace);
      } catch (error) {
        problems.push(
          `repository "${repository.id}" (${repository.storageNamespace}) does not fit the configured block store: ${(error as Error).message}; configure its store, or start with --allow-mismatched-repos`,
        );
      }
    }
    after = page.hasMore ? page.nextOffset : undefined;
  } while (after !== undefined);
  return problems;
}
