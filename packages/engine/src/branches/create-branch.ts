import type { EngineContext } from '../context/engine-context.ts';
import { maxTries } from '../context/back-off.ts';
import { invalid, notFound, tooManyAttempts } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { CreateBranchOptions } from '../face/branches.ts';
import type { MoveKind } from '@svc/encoding';
import type { Actor, BranchRef } from '../face/model.ts';
import type { HookFiles } from '../hooks/hook-files.ts';
import { hooksAt, planAfter, runBefore } from '../hooks/run-hooks.ts';
import { checkNewBranchName, checkRoomForKeys, required } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import type { PlannedMove, RefMove } from '../moves/move-log.ts';
import { isLiving, resolveCommitted, type ResolvedTarget } from '../refs/resolve-ref.ts';
import { tokenFor } from '../staging/tokens.ts';
import type { BranchHead } from '../store/branch-store.ts';
import type { RepositoryScope } from '../store/scope.ts';

const fullCommitId = /^[0-9a-f]{64}$/;

/** Creates a branch at the source's commit; uncommitted changes of the source are not copied. */
export async function createBranch(context: EngineContext, options: CreateBranchOptions): Promise<BranchRef> {
  const { name, source, actor } = options;
  checkNewBranchName(name, 'name');
  if (source === '') throw required('source');
  const scope = await context.repositories.open(options.repository);
  checkNotReadOnly(scope, options.force);
  // Both are asked for at once; that the source is missing is told first.
  const hidesNothing = checkHidesNothing(context, scope, name);
  hidesNothing.catch(() => undefined);
  const guess = guessStaged(context, scope, source);
  const target = await findSource(context, scope, source);
  const { commitId } = target;
  const hidden = options.hidden === true;
  await createBranchAt(context, scope, {
    kind: 'create',
    name,
    commitId,
    source,
    hidden,
    actor,
    tokens: target.staged ? target.head?.tokens : undefined,
    looked: target.head !== undefined && guess?.isOf(target.head) === true ? guess.looked : undefined,
    byId: !isLiving(target),
    hidesNothing,
  });
  return { id: name, commitId, hidden };
}

export interface NewRef {
  readonly kind: MoveKind;
  readonly name: string;
  readonly commitId: string;
  readonly source: string;
  readonly actor: Actor;
  /** No living ref shows the commit. */
  readonly byId: boolean;
}

interface NewBranch extends NewRef {
  readonly hidden: boolean;
  /** Of the source, when it is a branch. */
  readonly tokens?: readonly Buffer[] | undefined;
  /** A look at these tokens, when it was begun before. */
  readonly looked?: ReturnType<HookFiles['lookAtStaged']> | undefined;
  /** The check of the name, when it was begun before. */
  readonly hidesNothing?: Promise<void>;
}

/** The checks and hooks of a creation, then the branch. */
export async function createBranchAt(
  context: EngineContext,
  scope: RepositoryScope,
  { kind, name, commitId, source, actor, hidden, tokens, looked: begun, byId, hidesNothing }: NewBranch,
): Promise<PlannedMove> {
  checkRoomForKeys(context.kv, scope.partition, name, 'name');
  await (hidesNothing ?? checkHidesNothing(context, scope, name));
  // A deletion is the source of what comes back, but no ref to read from.
  const sourceRef = kind === 'undelete' ? commitId : source;
  // One look for both events.
  const looked = tokens === undefined ? undefined : (begun ?? context.hookFiles?.lookAtStaged(tokens));
  const staged = looked instanceof Promise ? await looked : looked;
  const shown = { commitId, tokens, staged };
  const move = { kind, type: 'branch', id: name, to: commitId, actor, source, hidden } as const;
  const make = async (more?: RefMove['more']): Promise<PlannedMove> => {
    // A commit that was collected since it was named is refused before anything is written.
    const commit = byId ? await context.commits.get(scope, commitId) : undefined;
    const made = await addBranch(context, scope, { ...move, more });
    if (commit !== undefined) await context.gate.commitById(scope, commit);
    return made;
  };
  if ((await hooksAt(context, scope, shown)) === undefined) return make();
  // Without hooks the write finds out by itself; hooks do not hear of a branch that cannot be made.
  if ((await context.branches.find(scope, name)) !== undefined) throw branchExists();
  const event = { scope, actor, sourceRef, branch: name, commitId, shown };
  const run = await runBefore(context, 'pre-create-branch', event);
  const after = await planAfter(context, 'post-create-branch', { ...event, preRunId: run?.runId });
  const made = await make(after.writes);
  await after.happened();
  return made;
}

/** What is staged on the source, as far as it stands where it was seen last: nobody waits for the branch to look. */
function guessStaged(
  context: EngineContext,
  scope: RepositoryScope,
  source: string,
): { looked: ReturnType<HookFiles['lookAtStaged']>; isOf: (head: BranchHead) => boolean } | undefined {
  const { kv, branches, hookFiles } = context;
  // Where a read is a look into memory, there is nothing to gain.
  const seen = kv.valueAtOnce === undefined ? branches.lastSeen(scope, source) : undefined;
  if (seen === undefined || hookFiles === undefined) return undefined;
  const looked = hookFiles.lookAtStaged(seen.tokens);
  if (looked instanceof Promise) looked.catch(() => undefined);
  const isOf = ({ tokens }: BranchHead): boolean =>
    tokens.length === seen.tokens.length && tokens.every((token, index) => seen.tokens[index]?.equals(token));
  return { looked, isOf };
}

/** A branch that comes into being, with a record of it. */
export async function addBranch(
  context: EngineContext,
  scope: RepositoryScope,
  move: RefMove & { readonly to: string; readonly hidden: boolean },
): Promise<PlannedMove> {
  const { id, to: commitId, hidden } = move;
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const planned =
      attempt === 0
        ? context.moves.planFirstCreation(scope, move)
        : await context.moves.planCreation(scope, move);
    const stagingToken = tokenFor(scope, id);
    const branch = { id, commitId, stagingToken, sealedTokens: [], hidden };
    if (await context.branches.create(scope, branch, planned)) return planned;
    // Else a namesake was deleted: the log goes on after it.
    if ((await context.branches.find(scope, id)) !== undefined) throw branchExists();
  }
  throw tooManyAttempts();
}

async function findSource(
  context: EngineContext,
  scope: RepositoryScope,
  source: string,
): Promise<ResolvedTarget> {
  try {
    return await resolveCommitted(context, scope, source, { argument: 'source' });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.kind === 'not_found') throw notFound('ref', `source reference '${source}': not found`);
    if (error.kind === 'invalid') throw invalid(`source reference '${source}': ${error.message}`, 'ref');
    throw error;
  }
}

/** A branch never hides a tag or a commit. Best effort: the checks are not atomic. */
async function checkHidesNothing(
  context: EngineContext,
  scope: RepositoryScope,
  name: string,
): Promise<void> {
  if ((await context.tags.find(scope, name)) !== undefined) throw nameClash(`tag ID ${name}`);
  if (fullCommitId.test(name) && (await context.commits.find(scope, name)) !== undefined) {
    throw nameClash(`commit ID ${name}`);
  }
}

function branchExists(): EngineError {
  return new EngineError('already_exists', 'branch already exists: not unique', { subject: 'branch' });
}

export function nameClash(what: string): EngineError {
  return new EngineError('conflict', `${what}: conflict found`, { subject: 'ref' });
}
