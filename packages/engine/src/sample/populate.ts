import { createCommit } from '../history/create-commit.ts';
import type { EngineContext } from '../context/engine-context.ts';
import type { Actor } from '../face/model.ts';
import { uploadObject } from '../objects/upload-object.ts';
import { protectionChanged } from '../protection/index.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** Fills a new repository with the sample files in one commit, and protects its default branch. */
export async function populateSampleData(
  context: EngineContext,
  scope: RepositoryScope,
  actor: Actor,
): Promise<void> {
  const { id: repository, defaultBranch: branch } = scope.repository;
  // Read when it is asked for: it brings a writer of Parquet.
  const { sampleFiles } = await import('./sample-files.ts');
  for (const file of sampleFiles(repository, branch)) {
    const { path, contentType, bytes: body } = file;
    await uploadObject(context, { repository, branch, path, contentType, body });
  }
  await createCommit(context, { repository, branch, message: 'Add sample data', actor });
  const rules = await context.protection.read(scope);
  await context.protection.replace(scope, rules, [branch], protectionChanged(context, [branch], actor));
}
