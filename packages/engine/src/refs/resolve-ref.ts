import type { EngineContext } from '../context/engine-context.ts';
import { invalid, notFound } from '../context/refusals.ts';
import type { Commit } from '../face/model.ts';
import { isBranchName } from '../names/names.ts';
import type { BranchHead } from '../store/branch-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import type { RefExpression, RefModifier } from './parse-ref.ts';
import { parseRef } from './parse-ref.ts';
import { resolveAtTime, type StoodAt } from './resolve-time.ts';

const fullCommitId = /^[0-9a-fA-F]{64}$/;
const commitIdPrefix = /^[0-9a-fA-F]{1,64}$/;

/** What a ref stands for, ready to be read from. */
export interface ResolvedTarget {
  readonly kind: 'branch' | 'tag' | 'commit';
  readonly commitId: string;
  /** The branch as read; reads add its staging when `staged`. */
  readonly head: BranchHead | undefined;
  readonly staged: boolean;
  /** `$` was written: operations that need a commit refuse it. */
  readonly explicitStaging: boolean;
  /** Of a time: when the base stood there, and what had put it there. */
  readonly stood?: StoodAt;
}

export interface ResolveOptions {
  /** `HEAD` means this branch's head; else the default branch's. */
  readonly headBranch?: string | undefined;
  readonly argument?: string | undefined;
}

/** Resolves any ref expression. */
export async function resolveRef(
  context: EngineContext,
  scope: RepositoryScope,
  ref: string,
  options: ResolveOptions = {},
): Promise<ResolvedTarget> {
  const expression = parseRef(ref, options.argument);
  const base = await resolveBase(context, scope, expression, options);
  const first = expression.modifiers[0];
  if (first === undefined) return base;
  if (first.kind === 'committed' || first.kind === 'staged') {
    if (base.kind !== 'branch') {
      throw invalid(`ref '${ref}': ${first.kind === 'staged' ? '$' : '@'} needs a branch`, 'ref');
    }
    return { ...base, staged: first.kind === 'staged', explicitStaging: first.kind === 'staged' };
  }
  const commitId = await applyModifiers(context, scope, base.commitId, expression);
  return { ...committed('commit', commitId), ...(base.stood !== undefined && { stood: base.stood }) };
}

/** Resolves a ref where a commit is needed: asking for staging is refused. */
export async function resolveCommitted(
  context: EngineContext,
  scope: RepositoryScope,
  ref: string,
  options: ResolveOptions = {},
): Promise<ResolvedTarget> {
  const target = await resolveRef(context, scope, ref, options);
  if (target.explicitStaging) {
    throw invalid(`ref '${ref}': a commit is needed here, not uncommitted changes: drop the $`, 'ref');
  }
  return target;
}

/** As `resolveCommitted`; staging is ignored. */
export async function resolveCommitId(
  context: EngineContext,
  scope: RepositoryScope,
  ref: string,
  options: ResolveOptions = {},
): Promise<string> {
  return (await resolveCommitted(context, scope, ref, options)).commitId;
}

export async function resolveCommit(
  context: EngineContext,
  scope: RepositoryScope,
  ref: string,
  options: ResolveOptions = {},
): Promise<Commit> {
  return context.commits.get(scope, await resolveCommitId(context, scope, ref, options));
}

async function resolveBase(
  context: EngineContext,
  scope: RepositoryScope,
  expression: RefExpression,
  options: ResolveOptions,
): Promise<ResolvedTarget> {
  const { base, time } = expression;
  if (time !== undefined) {
    const headBranch = options.headBranch ?? scope.repository.defaultBranch;
    const stood = await resolveAtTime(context, scope, base, time, headBranch);
    return { ...committed('commit', stood.commitId), stood };
  }
  if (fullCommitId.test(base)) {
    const commit = await context.commits.find(scope, base.toLowerCase());
    if (commit !== undefined) return committed('commit', commit.id);
  }
  if (isBranchName(base)) {
    const head = await context.branches.find(scope, base);
    if (head !== undefined) return ofBranch(head);
  }
  const tag = await context.tags.find(scope, base);
  if (tag !== undefined) return committed('tag', tag.data.commitId);
  if (commitIdPrefix.test(base)) {
    const commit = await context.commits.findByPrefix(scope, base.toLowerCase());
    if (commit !== undefined) return committed('commit', commit.id);
  }
  if (base === 'HEAD') {
    const head = await context.branches.find(scope, options.headBranch ?? scope.repository.defaultBranch);
    if (head !== undefined) return committed('commit', head.data.commitId);
  }
  throw notFound('ref');
}

function committed(kind: 'tag' | 'commit', commitId: string): ResolvedTarget {
  return { kind, commitId, head: undefined, staged: false, explicitStaging: false };
}

export function ofBranch(head: BranchHead): ResolvedTarget {
  return { kind: 'branch', commitId: head.data.commitId, head, staged: true, explicitStaging: false };
}

async function applyModifiers(
  context: EngineContext,
  scope: RepositoryScope,
  start: string,
  expression: RefExpression,
): Promise<string> {
  let commitId = start;
  for (const modifier of expression.modifiers) {
    commitId = await applyModifier(context, scope, commitId, modifier);
  }
  return commitId;
}

async function applyModifier(
  context: EngineContext,
  scope: RepositoryScope,
  start: string,
  modifier: RefModifier,
): Promise<string> {
  if (modifier.kind === 'ancestor') {
    let commitId = start;
    for (let step = 0; step < modifier.count; step += 1) {
      const parent = (await context.commits.get(scope, commitId)).parents[0];
      if (parent === undefined) throw notFound('ref');
      commitId = parent;
    }
    return commitId;
  }
  if (modifier.kind !== 'parent' || modifier.number === 0) return start;
  const { parents } = await context.commits.get(scope, start);
  const parent = parents[modifier.number - 1];
  if (parent === undefined) {
    throw invalid(`parent ${modifier.number} of ${parents.length}: commit parent out of range`, 'ref');
  }
  return parent;
}
