import { commitId, copyStringMap, timestampFromSeconds } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, notFound } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { CommitRecord, Commits } from '../face/commits.ts';
import type { Commit, Forceable, InRepository } from '../face/model.ts';
import { logCommits } from '../log/log-commits.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { resolveCommit } from '../refs/resolve-ref.ts';
import { cherryPick } from './cherry-pick.ts';
import { checkCommitSize } from './commit-limits.ts';
import { createCommit } from './create-commit.ts';
import { revertCommit } from './revert.ts';

export function commits(context: EngineContext): Commits {
  return {
    create: (options) => createCommit(context, options),
    get: async ({ repository, ref }) => {
      const scope = await context.repositories.open(repository);
      try {
        return await resolveCommit(context, scope, ref);
      } catch (error) {
        throw error instanceof EngineError && error.kind === 'not_found' ? notFound('commit') : error;
      }
    },
    log: (options) => logCommits(context, options),
    createRecord: (options) => createCommitRecord(context, options),
    cherryPick: (options) => cherryPick(context, options),
    revert: (options) => revertCommit(context, options),
  };
}

/** Stores a commit as given. Parents and tree are not checked; the id must be the one its fields give. */
async function createCommitRecord(
  context: EngineContext,
  options: InRepository & Forceable & { readonly commit: CommitRecord },
): Promise<void> {
  const scope = await context.repositories.open(options.repository);
  checkNotReadOnly(scope, options.force);
  const given = options.commit;
  const commit: Commit = {
    ...given,
    creationDate: timestampFromSeconds(given.creationDate),
    metadata: copyStringMap(given.metadata ?? {}),
  };
  checkCommitSize(commit.message, commit.metadata);
  if (commitId(commit) !== given.id) {
    throw invalid('commit id: invalid value: validation error', 'commit');
  }
  if (!(await context.commits.add(scope, commit))) {
    throw new EngineError('already_exists', 'commit already exists: not unique', { subject: 'commit' });
  }
}
