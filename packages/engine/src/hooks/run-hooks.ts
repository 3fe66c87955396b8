import type { EngineContext } from '../context/engine-context.ts';
import type { HookEvent, HookPoints, HookRun, PostEventType, PreEventType } from '../face/hooks.ts';
import type { StagedLook } from './hook-files.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** What the ref of an event shows: a tree or that of a commit, under the staged changes of a branch. */
export type Shown = ({ readonly metaRangeId: string } | { readonly commitId: string }) & {
  readonly tokens?: readonly Buffer[] | undefined;
  /** What a look at the tokens said, where somebody took it. */
  readonly staged?: StagedLook | undefined;
};

/** An event before it has a type; the scope stands for the repository. */
export type BranchEvent = Omit<HookEvent, 'type' | 'repository'> & { readonly scope: RepositoryScope };

export type ShownEvent = BranchEvent & { readonly shown: Shown };

/** The hooks to be called about a ref. None for read-only repositories, and where no file of theirs is to be seen. */
export async function hooksAt(
  context: EngineContext,
  scope: RepositoryScope,
  shown: Shown,
): Promise<HookPoints | undefined> {
  const { hooks, hookFiles } = context;
  if (hooks === undefined || scope.repository.readOnly) return undefined;
  if (hookFiles === undefined) return hooks;
  try {
    const { metaRangeId } = 'metaRangeId' in shown ? shown : await context.commits.get(scope, shown.commitId);
    const inTree = hookFiles.inTree(scope, metaRangeId);
    if (typeof inTree === 'boolean' ? inTree : await inTree) return hooks;
    const { mayHold } = shown.staged ?? (await hookFiles.lookAtStaged(shown.tokens ?? []));
    return mayHold ? hooks : undefined;
  } catch {
    // They look for themselves, and say what is wrong with the files.
    return hooks;
  }
}

/** Runs the hooks of a pre-event; they abort the operation by throwing. */
export async function runBefore(
  context: EngineContext,
  type: PreEventType,
  event: ShownEvent,
): Promise<HookRun | undefined> {
  const { scope, shown, ...fields } = event;
  const hooks = await hooksAt(context, scope, shown);
  return hooks?.before({ ...fields, type, repository: scope.repository });
}

/** Notes that the hooks of a post-event are to run; the operation does not wait for them to do so. */
export async function runAfter(
  context: EngineContext,
  type: PostEventType,
  event: ShownEvent,
): Promise<void> {
  const { scope, shown, ...fields } = event;
  const hooks = await hooksAt(context, scope, shown);
  await hooks?.after({ ...fields, type, repository: scope.repository });
}
