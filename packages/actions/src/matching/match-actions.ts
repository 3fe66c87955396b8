import type { Action, EventType } from '../file/index.ts';
import { matchPath } from './match-path.ts';

/** The actions that listen to an event on a branch. Throws `GlobError` when a pattern cannot be read. */
export function matchActions(
  actions: readonly Action[],
  event: { readonly type: EventType; readonly branch?: string | undefined },
): Action[] {
  return actions.filter((action) => {
    const branches = action.on.get(event.type);
    if (branches === undefined || action.hooks.length === 0) return false;
    return branches.length === 0 || branches.some((pattern) => matchPath(pattern, event.branch ?? ''));
  });
}
