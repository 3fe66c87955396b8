import { decodeStagedEntry, type StagedEntryData } from '@svc/encoding';
import type { TreeRecord } from '../committed/tree.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound } from '../context/refusals.ts';
import type { ResolvedTarget } from '../refs/resolve-ref.ts';
import type { BranchHead } from '../store/branch-store.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** How often a reader starts over when the branch moved under it. */
const maxRereads = 3;

/** The newest staged change of a key over `tokens` (newest first); an empty identity is a tombstone. */
export async function lookupStaged(
  context: EngineContext,
  tokens: readonly Buffer[],
  key: Buffer,
): Promise<StagedEntryData | undefined> {
  const [only] = tokens;
  if (only === undefined) return undefined;
  if (tokens.length === 1) {
    const found = await context.kv.get(only, key);
    return found === undefined ? undefined : decodeStagedEntry(found.value);
  }
  const all = await Promise.all(tokens.map((token) => context.kv.get(token, key)));
  const newest = all.find((found) => found !== undefined);
  return newest === undefined ? undefined : decodeStagedEntry(newest.value);
}

export async function lookupCommitted(
  context: EngineContext,
  scope: RepositoryScope,
  commitId: string,
  key: Buffer,
): Promise<TreeRecord | undefined> {
  const known = lookupCommittedAtOnce(context, scope, commitId, key);
  if (known !== 'later') return known;
  const { metaRangeId } = await context.commits.get(scope, commitId);
  return context.trees.get(scope.committed, metaRangeId, key);
}

/** A key as one branch record shows it: staging over the head's tree. */
export async function lookupInBranch(
  context: EngineContext,
  scope: RepositoryScope,
  head: BranchHead,
  key: Buffer,
): Promise<TreeRecord | undefined> {
  const staged = await lookupStaged(context, head.tokens, key);
  if (staged !== undefined) return staged.identity.length === 0 ? undefined : staged;
  return lookupCommitted(context, scope, head.data.commitId, key);
}

/**
 * A key as a branch shows it now, when the branch is still as it was last seen: its staging is read first and the
 * branch afterwards, which proves in one read that token and head were the right ones. `'moved'` when they were not.
 */
export async function lookupAsLastSeen(
  context: EngineContext,
  scope: RepositoryScope,
  head: BranchHead,
  key: Buffer,
): Promise<TreeRecord | undefined | 'moved'> {
  const staged = await lookupStaged(context, head.tokens, key);
  const now = await context.branches.find(scope, head.data.id);
  if (now === undefined || !sameState(now, head)) return 'moved';
  if (staged !== undefined) return staged.identity.length === 0 ? undefined : staged;
  return lookupCommitted(context, scope, now.data.commitId, key);
}

/**
 * As `lookupAsLastSeen`, without a promise: what it reads is in memory most of the time, and every promise costs as much
 * as a read. `'later'` when it has to wait for a store, or the branch has moved.
 */
export function lookupAtOnce(
  context: EngineContext,
  scope: RepositoryScope,
  head: BranchHead,
  key: Buffer,
): TreeRecord | undefined | 'later' {
  const { kv } = context;
  if (kv.valueAtOnce === undefined) return 'later';
  let staged: Buffer | undefined;
  for (const token of head.tokens) {
    staged = kv.valueAtOnce(token, key);
    if (staged !== undefined) break;
  }
  if (context.branches.isCurrentAtOnce(scope, head) !== true) return 'later';
  if (staged !== undefined) {
    const entry = decodeStagedEntry(staged);
    return entry.identity.length === 0 ? undefined : entry;
  }
  return lookupCommittedAtOnce(context, scope, head.data.commitId, key);
}

/** As `lookupCommitted`, without a promise. `'later'` when it has to wait for a store. */
export function lookupCommittedAtOnce(
  context: EngineContext,
  scope: RepositoryScope,
  commitId: string,
  key: Buffer,
): TreeRecord | undefined | 'later' {
  const commit = context.commits.getAtOnce(scope, commitId);
  if (commit === undefined) return 'later';
  const found = context.trees.getAtOnce(scope.committed, commit.metaRangeId, key);
  return found === null ? 'later' : found;
}

/** A key as a ref shows it now. */
export async function lookup(
  context: EngineContext,
  scope: RepositoryScope,
  target: ResolvedTarget,
  key: Buffer,
): Promise<TreeRecord | undefined> {
  let head = target.staged ? target.head : undefined;
  if (head === undefined) return lookupCommitted(context, scope, target.commitId, key);
  for (let reread = 0; ; reread += 1) {
    const staged = await lookupStaged(context, head.tokens, key);
    if (staged !== undefined) return staged.identity.length === 0 ? undefined : staged;
    const record = await lookupCommitted(context, scope, head.data.commitId, key);
    if (reread === maxRereads) return record;
    // A commit may have moved the key from a token we no longer find it in to a tree we did not look at.
    const now = await context.branches.find(scope, head.data.id);
    if (now === undefined) throw notFound('ref');
    if (sameState(now, head)) return record;
    head = now;
  }
}

/** Whether head and tokens are the same, so that what was read from them still holds. */
export function sameState(left: BranchHead, right: BranchHead): boolean {
  return left.raw === right.raw || left.raw.equals(right.raw);
}
