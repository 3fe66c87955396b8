import type { KvWrite } from '@svc/kv';
import type { EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import type { HookEvent, HookPoints, HookRun, PostEventType, PreEventType } from '../face/hooks.ts';
import type { Commit } from '../face/model.ts';
import type { StagedLook } from './hook-files.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** What the ref of an event shows: a tree or that of a commit, under the staged changes of a branch. */
export type Shown = ({ readonly metaRangeId: string } | { readonly commitId: string }) & {
  readonly tokens?: readonly Buffer[] | undefined;
  /** What a look at the tokens said, where somebody took it. */
  readonly staged?: StagedLook | undefined;
};

/** An event before it has a type; the scope stands for the repository. */
export type BranchEvent = Omit<HookEvent, 'type' | 'repository' | 'files' | 'candidateId'> & {
  readonly scope: RepositoryScope;
};

export type ShownEvent = BranchEvent & {
  readonly shown: Shown;
  readonly candidateId?: string | undefined;
};

/** Hooks to be called, with what is known of their files. */
interface HooksToCall {
  readonly hooks: HookPoints;
  readonly files?: string | undefined;
}

/** The hooks to be called about a ref. None for read-only repositories, and where no file of theirs is to be seen. */
export async function hooksAt(
  context: EngineContext,
  scope: RepositoryScope,
  shown: Shown,
): Promise<HooksToCall | undefined> {
  const { hooks, hookFiles } = context;
  if (hooks === undefined || scope.repository.readOnly) return undefined;
  if (hookFiles === undefined) return { hooks };
  try {
    const { commits } = context;
    const { metaRangeId } =
      'metaRangeId' in shown
        ? shown
        : (commits.getAtOnce(scope, shown.commitId) ?? (await commits.get(scope, shown.commitId)));
    const looked = hookFiles.inTree(scope, metaRangeId);
    const files = typeof looked === 'string' ? looked : await looked;
    const { mayHold } = shown.staged ?? (await hookFiles.lookAtStaged(shown.tokens ?? []));
    if (mayHold) return { hooks };
    return hookFiles.isNone(files) ? undefined : { hooks, files: hookFiles.toldOf(files) };
  } catch {
    // They look for themselves, and say what is wrong with the files.
    return { hooks };
  }
}

/** Whether it is known at once that a tree has no hooks to be called. */
export function isWithoutHooks({ hooks, hookFiles }: EngineContext, metaRangeId: string): boolean {
  return hooks === undefined || hookFiles?.isKnownWithout(metaRangeId) === true;
}

/** Runs the hooks of a pre-event; they abort the operation by throwing. */
export async function runBefore(
  context: EngineContext,
  type: PreEventType,
  event: ShownEvent,
): Promise<HookRun | undefined> {
  const { scope, shown, ...fields } = event;
  const called = await hooksAt(context, scope, shown);
  return called?.hooks.before({ ...fields, type, files: called.files, repository: scope.repository });
}

/**
 * The run of hooks before a commit. It names the commit it is for, which may still come to nothing: then it names none.
 */
export class CandidateRun {
  readonly #context: EngineContext;
  readonly #scope: RepositoryScope;
  #run: HookRun | undefined;

  constructor(context: EngineContext, scope: RepositoryScope) {
    this.#context = context;
    this.#scope = scope;
  }

  /** What is told of the commit once it is made. */
  eventOf(commit: Commit, event: BranchEvent): ShownEvent {
    const { id } = commit;
    return { ...event, sourceRef: id, commitId: id, commit, preRunId: this.#run?.runId, shown: commit };
  }

  /** Runs the hooks about another candidate than before. */
  async about(type: PreEventType, candidate: Commit, event: Omit<ShownEvent, 'candidateId'>): Promise<void> {
    await this.#withdraw();
    this.#run = await runBefore(this.#context, type, { ...event, candidateId: candidate.id });
  }

  /** Makes the commit; when that is refused, the run is for none. */
  async during<Result>(makes: () => Promise<Result>): Promise<Result> {
    try {
      return await makes();
    } catch (error) {
      // Of an error of the store nobody knows what it left undone.
      if (error instanceof EngineError) await this.#withdraw();
      throw error;
    }
  }

  async #withdraw(): Promise<void> {
    if (this.#run === undefined) return;
    await this.#context.hooks?.withdraw?.(this.#scope.repository, this.#run);
    this.#run = undefined;
  }
}

/** The hooks of a post-event that has not happened yet. */
export interface HooksAfter {
  /** Put them on record: hand these to the very `change` that makes the event happen. */
  readonly writes: readonly KvWrite[];
  /** To be called when it has happened. The operation does not wait for the hooks to run. */
  readonly happened: () => Promise<void>;
}

export const noHooksAfter: HooksAfter = { writes: [], happened: () => Promise.resolve() };

/** Whatever becomes of this process, the hooks of an event run when it has happened, and not when it has not. */
export async function planAfter(
  context: EngineContext,
  type: PostEventType,
  { scope, shown, ...fields }: ShownEvent,
): Promise<HooksAfter> {
  const called = await hooksAt(context, scope, shown);
  if (called === undefined) return noHooksAfter;
  const { hooks, files } = called;
  const event = { ...fields, type, files, repository: scope.repository };
  const writes = await hooks.noteAfter?.(event);
  if (writes?.length === 0) return noHooksAfter;
  return { writes: writes ?? [], happened: async () => hooks.after(event) };
}
