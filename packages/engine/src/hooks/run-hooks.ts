import type { EngineContext } from '../context/engine-context.ts';
import type { HookEvent, HookPoints, HookRun, PostEventType, PreEventType } from '../face/hooks.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** An event before it has a type; the scope stands for the repository. */
export type BranchEvent = Omit<HookEvent, 'type' | 'repository'> & { readonly scope: RepositoryScope };

/** The hooks of a repository; read-only ones run none. */
export function hooksOf(context: EngineContext, scope: RepositoryScope): HookPoints | undefined {
  return scope.repository.readOnly ? undefined : context.hooks;
}

/** Runs the hooks of a pre-event; they abort the operation by throwing. */
export async function runBefore(
  context: EngineContext,
  type: PreEventType,
  event: BranchEvent,
): Promise<HookRun | undefined> {
  const { scope, ...fields } = event;
  return hooksOf(context, scope)?.before({ ...fields, type, repository: scope.repository });
}

/** Notes that the hooks of a post-event are to run; the operation does not wait for them to do so. */
export async function runAfter(
  context: EngineContext,
  type: PostEventType,
  event: BranchEvent,
): Promise<void> {
  const { scope, ...fields } = event;
  await hooksOf(context, scope)?.after({ ...fields, type, repository: scope.repository });
}
