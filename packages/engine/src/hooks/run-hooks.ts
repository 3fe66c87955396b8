import type { EngineContext } from '../context/engine-context.ts';
import type { HookEvent, HookRun, PostEventType, PreEventType } from '../face/hooks.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** An event before it has a type; the scope stands for the repository. */
export type BranchEvent = Omit<HookEvent, 'type' | 'repository'> & { readonly scope: RepositoryScope };

/** Read-only repositories run none. */
export function hasHooks(context: EngineContext, scope: RepositoryScope): boolean {
  return context.hooks !== undefined && !scope.repository.readOnly;
}

/** Runs the hooks of a pre-event; they abort the operation by throwing. */
export async function runBefore(
  context: EngineContext,
  type: PreEventType,
  event: BranchEvent,
): Promise<HookRun | undefined> {
  if (context.hooks === undefined || event.scope.repository.readOnly) return undefined;
  const { scope, ...fields } = event;
  return context.hooks.before({ ...fields, type, repository: scope.repository });
}

/** Starts the hooks of a post-event; the operation does not wait for them. */
export function runAfter(context: EngineContext, type: PostEventType, event: BranchEvent): void {
  if (context.hooks === undefined || event.scope.repository.readOnly) return;
  const { scope, ...fields } = event;
  context.hooks.after({ ...fields, type, repository: scope.repository });
}
