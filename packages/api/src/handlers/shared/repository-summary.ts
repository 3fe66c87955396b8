import { arn, one } from '@svc/auth';
import type { Permissions } from '@svc/auth';
import { EngineError } from '@svc/engine';
import type { Commit, Engine, Repository } from '@svc/engine';
import { commitView } from '../../views/commit.ts';

/** What a list of repositories shows of each besides its record: as much of it as the caller may read. */
export async function summaryOf(
  { repositories, commits }: Pick<Engine, 'repositories' | 'commits'>,
  { id, defaultBranch }: Repository,
  permissions: Permissions,
) {
  const may = (action: string): boolean => permissions.check(one(action, arn.repository(id))).allowed;
  const [metadata, commit] = await Promise.all([
    may('fs:ReadRepository') ? ifThere(repositories.getMetadata(id)) : undefined,
    may('fs:ReadCommit') ? ifThere(commits.get({ repository: id, ref: defaultBranch })) : undefined,
  ]);
  return {
    description: metadata?.['description'],
    last_commit: commit === undefined ? undefined : commitView(commit satisfies Commit),
  };
}

/** A bare repository has no branch yet, and one may be deleted meanwhile. */
async function ifThere<Value>(read: Promise<Value>): Promise<Value | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}
