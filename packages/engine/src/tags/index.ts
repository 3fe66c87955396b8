import { nameClash, type NewRef } from '../branches/create-branch.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { maxTries } from '../context/back-off.ts';
import { notFound, tooManyAttempts } from '../context/refusals.ts';
import { collectPage } from '../context/page.ts';
import { EngineError } from '../errors.ts';
import type { Actor, Forceable, InRepository, Ref } from '../face/model.ts';
import type { Tags } from '../face/tags.ts';
import { planAfter, runBefore } from '../hooks/run-hooks.ts';
import type { PlannedMove, RefMove } from '../moves/move-log.ts';
import { checkRoomForKeys, checkTagName, isBranchName } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { isLiving, resolveCommitted } from '../refs/resolve-ref.ts';
import type { RepositoryScope } from '../store/scope.ts';

const fullCommitId = /^[0-9a-f]{64}$/;

export function tags(context: EngineContext): Tags {
  return {
    create: (options) => createTag(context, options),
    get: async ({ repository, id }) => {
      checkTagName(id);
      const scope = await context.repositories.open(repository);
      const tag = await context.tags.find(scope, id);
      if (tag === undefined) throw notFound('tag');
      return { id, commitId: tag.data.commitId };
    },
    list: async ({ repository, prefix, after, amount, search = '' }) => {
      const scope = await context.repositories.open(repository);
      async function* found(): AsyncGenerator<Ref> {
        for await (const tag of context.tags.list(scope, prefix, after))
          if (tag.id.includes(search)) yield tag;
      }
      return collectPage(found(), amount, (tag) => tag.id);
    },
    delete: (options) => deleteTag(context, options),
  };
}

/** Creates a tag; an existing one is never overwritten. */
async function createTag(
  context: EngineContext,
  options: InRepository & Forceable & { readonly id: string; readonly ref: string; readonly actor: Actor },
): Promise<Ref> {
  const { id, actor } = options;
  checkTagName(id);
  const scope = await context.repositories.open(options.repository);
  checkNotReadOnly(scope, options.force);
  const target = await resolveCommitted(context, scope, options.ref);
  const { commitId } = target;
  await createTagAt(context, scope, {
    kind: 'create',
    name: id,
    commitId,
    source: options.ref,
    actor,
    byId: !isLiving(target),
  });
  return { id, commitId };
}

/** The checks and hooks of a creation, then the tag. */
export async function createTagAt(
  context: EngineContext,
  scope: RepositoryScope,
  { kind, name: id, commitId, source, actor, byId }: NewRef,
): Promise<PlannedMove> {
  checkRoomForKeys(context.kv, scope.partition, id, 'tag');
  await checkNameFree(context, scope, id);
  const event = { scope, actor, sourceRef: commitId, commitId, tag: id, shown: { commitId } };
  const run = await runBefore(context, 'pre-create-tag', event);
  const after = await planAfter(context, 'post-create-tag', { ...event, preRunId: run?.runId });
  const move: RefMove = { kind, type: 'tag', id, actor, source, more: after.writes };
  // A commit that was collected since it was named is refused before anything is written.
  const commit = byId ? await context.commits.get(scope, commitId) : undefined;
  const made = await addTag(context, scope, { ...move, to: commitId });
  await after.happened();
  if (commit !== undefined) await context.gate.commitById(scope, commit);
  return made;
}

/** A tag that comes into being, with a record of it. */
export async function addTag(
  context: EngineContext,
  scope: RepositoryScope,
  move: RefMove & { readonly to: string },
): Promise<PlannedMove> {
  const { id, to: commitId } = move;
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const planned =
      attempt === 0
        ? context.moves.planFirstCreation(scope, move)
        : await context.moves.planCreation(scope, move);
    if (await context.tags.create(scope, { id, commitId }, planned)) return planned;
    // Else a namesake was deleted: the log goes on after it.
    if ((await context.tags.find(scope, id)) !== undefined) throw tagExists();
  }
  throw tooManyAttempts();
}

async function deleteTag(
  context: EngineContext,
  options: InRepository & Forceable & { readonly id: string; readonly actor: Actor },
): Promise<void> {
  const { id, actor } = options;
  checkTagName(id);
  const scope = await context.repositories.open(options.repository);
  checkNotReadOnly(scope, options.force);
  const tag = await context.tags.find(scope, id);
  if (tag === undefined) throw notFound('tag');
  const { commitId } = tag.data;
  const event = { scope, actor, sourceRef: commitId, commitId, tag: id, shown: { commitId } };
  const run = await runBefore(context, 'pre-delete-tag', event);
  const after = await planAfter(context, 'post-delete-tag', { ...event, preRunId: run?.runId });
  const move: RefMove = { kind: 'delete', type: 'tag', id, from: commitId, actor, more: after.writes };
  const planned = await context.moves.planDeletion(scope, move, tag.data.lastMove);
  if (!(await context.tags.remove(scope, tag, planned))) throw notFound('tag');
  await after.happened();
}

async function checkNameFree(context: EngineContext, scope: RepositoryScope, id: string): Promise<void> {
  if ((await context.tags.find(scope, id)) !== undefined) throw tagExists();
  if (isBranchName(id) && (await context.branches.find(scope, id)) !== undefined) {
    throw nameClash(`branch name ${id}`);
  }
  if (fullCommitId.test(id) && (await context.commits.find(scope, id)) !== undefined) {
    throw nameClash(`commit ID ${id}`);
  }
}

function tagExists(): EngineError {
  return new EngineError('already_exists', 'tag already exists: not unique', { subject: 'tag' });
}
