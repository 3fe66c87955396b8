import type { EngineContext } from '../context/engine-context.ts';
import { invalid, notFound } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { CreateBranchOptions } from '../face/branches.ts';
import type { BranchRef } from '../face/model.ts';
import { runAfter, runBefore } from '../hooks/run-hooks.ts';
import { checkNewBranchName, required } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { resolveCommitId } from '../refs/resolve-ref.ts';
import { tokenFor } from '../staging/tokens.ts';
import type { RepositoryScope } from '../store/scope.ts';

const fullCommitId = /^[0-9a-f]{64}$/;

/** Creates a branch at the source's commit; uncommitted changes of the source are not copied. */
export async function createBranch(context: EngineContext, options: CreateBranchOptions): Promise<BranchRef> {
  const { name, source, actor } = options;
  checkNewBranchName(name, 'name');
  if (source === '') throw required('source');
  const scope = await context.repositories.open(options.repository);
  checkNotReadOnly(scope, options.force);
  const commitId = await resolveSource(context, scope, source);
  await checkNameFree(context, scope, name);
  const event = { scope, actor, sourceRef: source, branch: name, commitId };
  const run = await runBefore(context, 'pre-create-branch', event);
  const hidden = options.hidden === true;
  const created = await context.branches.create(scope, {
    id: name,
    commitId,
    stagingToken: tokenFor(scope, name),
    sealedTokens: [],
    hidden,
  });
  if (!created) throw branchExists();
  await runAfter(context, 'post-create-branch', { ...event, preRunId: run?.runId });
  return { id: name, commitId, hidden };
}

async function resolveSource(
  context: EngineContext,
  scope: RepositoryScope,
  source: string,
): Promise<string> {
  try {
    return await resolveCommitId(context, scope, source, { argument: 'source' });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.kind === 'not_found') throw notFound('ref', `source reference '${source}': not found`);
    if (error.kind === 'invalid') throw invalid(`source reference '${source}': ${error.message}`, 'ref');
    throw error;
  }
}

/** A branch never hides a tag or a commit of the same name. Best effort: the checks are not atomic. */
async function checkNameFree(context: EngineContext, scope: RepositoryScope, name: string): Promise<void> {
  if ((await context.branches.find(scope, name)) !== undefined) throw branchExists();
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
