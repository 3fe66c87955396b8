import { nameClash } from '../branches/create-branch.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound } from '../context/refusals.ts';
import { collectPage } from '../context/page.ts';
import { EngineError } from '../errors.ts';
import type { Actor, Forceable, InRepository, Ref } from '../face/model.ts';
import type { Tags } from '../face/tags.ts';
import { noteLeft } from '../gc/left-refs.ts';
import { runAfter, runBefore } from '../hooks/run-hooks.ts';
import { checkTagName, isBranchName } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { resolveCommitId } from '../refs/resolve-ref.ts';
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
    list: async ({ repository, prefix, after, amount }) => {
      const scope = await context.repositories.open(repository);
      return collectPage(context.tags.list(scope, prefix, after), amount, (tag) => tag.id);
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
  const commitId = await resolveCommitId(context, scope, options.ref);
  await checkNameFree(context, scope, id);
  const event = { scope, actor, sourceRef: commitId, commitId, tag: id };
  const run = await runBefore(context, 'pre-create-tag', event);
  if (!(await context.tags.create(scope, { id, commitId }))) throw tagExists();
  await runAfter(context, 'post-create-tag', { ...event, preRunId: run?.runId });
  return { id, commitId };
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
  const event = { scope, actor, sourceRef: commitId, commitId, tag: id };
  const run = await runBefore(context, 'pre-delete-tag', event);
  await noteLeft(context, scope, commitId);
  if (!(await context.tags.remove(scope, tag))) throw notFound('tag');
  await runAfter(context, 'post-delete-tag', { ...event, preRunId: run?.runId });
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
