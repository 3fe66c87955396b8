import { commitId, copyStringMap, timestampFromSeconds } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { maxTries } from '../context/back-off.ts';
import { invalid, notFound, tooManyAttempts } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { CommitRecordOptions, Commits } from '../face/commits.ts';
import type { Commit } from '../face/model.ts';
import { divergence } from './divergence.ts';
import { lastCommits } from './last-commits.ts';
import { logCommits } from './log-commits.ts';
import { noteForeignUnknown } from '../gc/foreign.ts';
import { checkHashId } from '../names/names.ts';
import { AdoptedTrees } from '../objects/adopted-trees.ts';
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
    last: (options) => lastCommits(context, options),
    divergence: (options) => divergence(context, options),
    createRecord: (options) => createCommitRecord(context, options),
    cherryPick: (options) => cherryPick(context, options),
    revert: (options) => revertCommit(context, options),
  };
}

/** Stores a commit as given. Its id must be the one its fields give; whether its parents are there is not checked. */
async function createCommitRecord(context: EngineContext, options: CommitRecordOptions): Promise<void> {
  const given = options.commit;
  if (given.metaRangeId !== '') checkHashId(given.metaRangeId, 'metarange_id');
  for (const parent of given.parents) checkHashId(parent, 'parents');
  const scope = await context.repositories.open(options.repository);
  checkNotReadOnly(scope, options.force);
  const commit: Commit = {
    ...given,
    creationDate: timestampFromSeconds(given.creationDate),
    metadata: copyStringMap(given.metadata ?? {}),
  };
  checkCommitSize(commit.message, commit.metadata);
  if (commitId(commit) !== given.id) {
    throw invalid('commit id: invalid value: validation error', 'commit');
  }
  await new AdoptedTrees(context, scope, options).check(commit.metaRangeId);
  await noteForeignUnknown(context, scope);
  const tables = {
    tree: commit.metaRangeId,
    commitId: commit.id,
    base: () => Promise.resolve(''),
    adopted: true,
  };
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const entered = await context.gate.adopt(scope, commit.metaRangeId);
    const isAdded = await context.gate.moveHead(scope, entered, tables, (still) =>
      context.commits.add(scope, commit, still),
    );
    if (isAdded) return context.gate.commitById(scope, commit);
    if ((await context.commits.find(scope, commit.id)) === undefined) continue;
    throw new EngineError('already_exists', 'commit already exists: not unique', { subject: 'commit' });
  }
  throw tooManyAttempts();
}
