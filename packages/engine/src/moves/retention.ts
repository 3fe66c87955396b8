import { reflogSettingsMessage } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { reflogSettingsKey } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';

const dayMs = 86_400_000;

/** Since when moves are shown and deletions can be taken back, in microseconds. */
export interface ShownSince {
  readonly retentionMs: number;
  retentionOf(hidden: boolean): number;
  of(hidden: boolean): number;
}

export async function shownSince(context: EngineContext, scope: RepositoryScope): Promise<ShownSince> {
  const days = await findRetentionDays(context, scope);
  const { reflogRetentionMs, reflogHiddenRetentionMs } = context.settings;
  const retentionMs = days === undefined ? reflogRetentionMs : days * dayMs;
  // What is hidden is never shown longer than the rest.
  const hiddenMs = Math.min(retentionMs, reflogHiddenRetentionMs);
  const now = context.clock();
  const [shown, hidden] = [(now - retentionMs) * 1000, (now - hiddenMs) * 1000];
  return {
    retentionMs,
    retentionOf: (isHidden) => (isHidden ? hiddenMs : retentionMs),
    of: (isHidden) => (isHidden ? hidden : shown),
  };
}

/** Undefined: the repository has no setting of its own. */
export async function findRetentionDays(
  context: EngineContext,
  scope: RepositoryScope,
): Promise<number | undefined> {
  const found = await context.kv.get(scope.partition, reflogSettingsKey);
  return found === undefined ? undefined : reflogSettingsMessage.decode(found.value).retentionDays;
}
