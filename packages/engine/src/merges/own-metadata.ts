import type { StringMap } from '@svc/encoding';
import type { Take, TakeCounts } from '../committed/tree.ts';
import { invalid } from '../context/refusals.ts';
import type { Commit } from '../face/model.ts';
import type { MeetingTrees } from './conflict-walk.ts';

const ownPrefix = '.svc.';
export const sourceKey = '.svc.merge.source';
export const baseKey = '.svc.merge.base';
const resolvedKey = '.svc.merge.resolved';
const takes: readonly Take[] = ['source', 'destination', 'base', 'delete', 'object'];

/** Callers may not say what only the engine knows. */
export function refuseOwnKeys(metadata: StringMap | undefined): void {
  const own = Object.keys(metadata ?? {}).find((key) => key.startsWith(ownPrefix));
  if (own !== undefined) throw invalid(`metadata: the key "${own}" is reserved: ${ownPrefix}*`, 'commit');
}

export function withoutOwnKeys(metadata: StringMap): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !key.startsWith(ownPrefix)));
}

/** What a commit says of the conflicts that resolutions settled; nothing when none did. */
export function resolvedMetadata(
  { sourceCommitId, baseCommitId }: MeetingTrees,
  resolved: TakeCounts | undefined,
): Record<string, string> {
  const counts = takes.filter((take) => (resolved?.[take] ?? 0) > 0);
  if (resolved === undefined || counts.length === 0) return {};
  return {
    [sourceKey]: sourceCommitId,
    [baseKey]: baseCommitId,
    [resolvedKey]: counts.map((take) => `${take}=${resolved[take]}`).join(','),
  };
}

/** How many conflicts a commit settled by resolutions, by take. */
export function resolvedCounts(commit: Pick<Commit, 'metadata'>): Partial<Record<Take, number>> {
  const counts: Partial<Record<Take, number>> = {};
  for (const part of (commit.metadata[resolvedKey] ?? '').split(',')) {
    const [take, count] = part.split('=');
    const known = takes.find((each) => each === take);
    if (known !== undefined) counts[known] = Number(count);
  }
  return counts;
}

/** Whether a merge commit may hold at a path what none of its parents does. */
export function mayHoldOwn(commit: Pick<Commit, 'metadata'>): boolean {
  const { base, delete: deleted, object } = resolvedCounts(commit);
  return base !== undefined || deleted !== undefined || object !== undefined;
}
