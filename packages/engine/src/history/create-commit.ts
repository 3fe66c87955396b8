import { copyStringMap, timestampFromMillis, timestampFromSeconds, type Timestamp } from '@svc/encoding';
import type { Turn } from '../context/branch-queue.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, noChanges } from '../context/refusals.ts';
import type { CommitOptions } from '../face/commits.ts';
import type { Commit } from '../face/model.ts';
import { noteForeignUnknown } from '../gc/foreign.ts';
import { foreseeMove, lookAtStagedHead } from '../heads/look-at-head.ts';
import { sealAndMove } from '../heads/seal-and-move.ts';
import {
  CandidateRun,
  isWithoutHooks,
  noHooksAfter,
  planAfter,
  runBefore,
  type BranchEvent,
} from '../hooks/run-hooks.ts';
import { checkBranchName, checkHashId } from '../names/names.ts';
import { AdoptedTrees } from '../objects/adopted-trees.ts';
import { checkCommittable } from '../protection/writable.ts';
import { Overlay } from '../staging/overlay.ts';
import { retireTokens } from '../staging/tokens.ts';
import { hasUncommittedChanges } from '../staging/uncommitted-changes.ts';
import type { BranchHead } from '../store/branch-store.ts';
import { makeCommit } from '../store/commit-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { refuseOwnKeys } from '../merges/own-metadata.ts';
import { checkCommitSize } from './commit-limits.ts';

/** Commits everything staged before the call: seal, apply the sealed changes to the head's tree, move the head. */
export async function createCommit(context: EngineContext, options: CommitOptions): Promise<Commit> {
  const { branch, message, actor } = options;
  checkBranchName(branch);
  if (options.sourceMetaRange !== undefined) checkHashId(options.sourceMetaRange, 'source_metarange');
  refuseOwnKeys(options.metadata);
  const metadata = copyStringMap(options.metadata ?? {});
  checkCommitSize(message, metadata);
  const scope = await context.repositories.open(options.repository);
  await checkCommittable(context, scope, branch, options.force);
  const { head, staged } = await lookAtStagedHead(context, scope, branch);
  if (options.sourceMetaRange !== undefined) {
    await checkSourceTree(context, scope, head, options, options.sourceMetaRange);
  }
  const event: BranchEvent = { scope, actor, sourceRef: branch, branch };
  foreseeMove(context, scope, head);
  await runBefore(context, 'prepare-commit', {
    ...event,
    shown: { commitId: head.data.commitId, staged },
    commit: { message, committer: actor.committer, metadata },
  });
  const creationDate =
    options.date === undefined ? timestampFromMillis(context.clock()) : timestampFromSeconds(options.date);
  const pending = new PendingCommit(context, scope, { ...options, metadata }, creationDate, event);
  return pending.run.during(() =>
    sealAndMove(context, {
      scope,
      branch,
      operation: 'commit',
      actor: options.actor,
      adopted: options.sourceMetaRange,
      byId: options.sourceMetaRange !== undefined,
      head,
      dirtyToken: staged?.isDirty === true ? head.data.stagingToken : undefined,
      makeCommit: (sealed, turn, lost) => pending.make(sealed, turn, lost),
      hooksAfter: async (commit) =>
        isWithoutHooks(context, commit.metaRangeId)
          ? noHooksAfter
          : planAfter(context, 'post-commit', pending.run.eventOf(commit, event)),
    }),
  );
}

/** A tree of the caller's takes the place of staged changes: there may be none, and they must be allowed to use it. */
async function checkSourceTree(
  context: EngineContext,
  scope: RepositoryScope,
  head: BranchHead,
  options: CommitOptions,
  metaRangeId: string,
): Promise<void> {
  if (await hasUncommittedChanges(context, scope, head.tokens, head.data.commitId)) throw dirtySource();
  await new AdoptedTrees(context, scope, options).check(metaRangeId);
  await noteForeignUnknown(context, scope);
}

function dirtySource(): Error {
  return invalid('cannot use source MetaRange on a branch with uncommitted changes', 'branch');
}

/** The commit of what is sealed, made anew for each head it is tried on. */
class PendingCommit {
  readonly #context: EngineContext;
  readonly #scope: RepositoryScope;
  readonly #options: CommitOptions;
  readonly #creationDate: Timestamp;
  readonly #event: BranchEvent;
  /** The commit that the pre-commit hooks have approved. */
  #approved = '';
  readonly run: CandidateRun;

  constructor(
    context: EngineContext,
    scope: RepositoryScope,
    options: CommitOptions,
    creationDate: Timestamp,
    event: BranchEvent,
  ) {
    this.#context = context;
    this.#scope = scope;
    this.#options = options;
    this.#creationDate = creationDate;
    this.#event = event;
    this.run = new CandidateRun(context, scope);
  }

  async make(head: BranchHead, turn: Turn, lost: number): Promise<Commit> {
    return this.#approve(head, await this.#tree(head, lost > 0), turn);
  }

  async #tree(head: BranchHead, raced: boolean): Promise<string> {
    const { sourceMetaRange, allowEmpty } = this.#options;
    const context = this.#context;
    const sealed = head.tokens.slice(1);
    if (sourceMetaRange !== undefined) {
      if (await hasUncommittedChanges(context, this.#scope, sealed, head.data.commitId)) throw dirtySource();
      return sourceMetaRange;
    }
    const parent = await context.commits.get(this.#scope, head.data.commitId);
    const watch = context.hookFiles?.watchStaged();
    const changes = new Overlay(context.kv, sealed, { onPage: watch?.see });
    try {
      const result = await context.trees.apply(this.#scope.committed, parent.metaRangeId, changes);
      if (watch?.saw === false) {
        await context.hookFiles?.noteMade(this.#scope, result.metaRangeId, [parent.metaRangeId]);
      }
      if (result.added + result.removed + result.changed > 0 || allowEmpty === true)
        return result.metaRangeId;
    } finally {
      changes.close();
    }
    await this.#dropWithoutEffect(head);
    throw noChanges(raced ? 'no changes' : 'commit: no changes');
  }

  /** Sealed entries that change nothing would only slow readers down. */
  async #dropWithoutEffect(head: BranchHead): Promise<void> {
    if (head.data.sealedTokens.length === 0) return;
    if (await this.#context.branches.replace(this.#scope, head, { ...head.data, sealedTokens: [] })) {
      await retireTokens(this.#context, head.data.sealedTokens);
    }
  }

  /** The commit to be made, once its hooks agree. */
  async #approve(head: BranchHead, metaRangeId: string, turn: Turn): Promise<Commit> {
    const context = this.#context;
    const { message, metadata, actor } = this.#options;
    const parent = await context.commits.get(this.#scope, head.data.commitId);
    const fields: Omit<Commit, 'id'> = {
      committer: actor.committer,
      message,
      creationDate: this.#creationDate,
      metaRangeId,
      parents: [parent.id],
      metadata: metadata ?? {},
      version: 1,
      generation: parent.generation + 1,
    };
    const commit = makeCommit(fields);
    if (commit.id !== this.#approved && !isWithoutHooks(context, metaRangeId)) {
      await turn.outside(() =>
        // What was sealed is what the branch shows, but for what was staged since, and that is not of this commit.
        this.run.about('pre-commit', commit, { ...this.#event, commit: fields, shown: fields }),
      );
      this.#approved = commit.id;
    }
    return commit;
  }
}
