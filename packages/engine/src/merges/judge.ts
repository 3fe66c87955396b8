import { PatternRules, takeOfStrategy } from '../committed/operations/conflict-policy.ts';
import type { MergeDiffIterator, MergeStrategy, Take } from '../committed/tree.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { Conflict } from '../face/merges.ts';
import type { RepositoryScope } from '../store/scope.ts';
import {
  conflictAt,
  conflictIdAt,
  lookingMs,
  walkMerge,
  type MeetingTrees,
  type WalkSpan,
} from './conflict-walk.ts';
import { movedPaths } from './moved.ts';
import type { PathResolution, Resolutions } from './resolutions.ts';

/** Unresolved conflicts that an answer names. */
export const shownUnresolved = 100;

const noResolutions: Resolutions = { patterns: [], exact: [] };

/** Says of each conflict what settles it, and in the end which resolutions were for nothing. */
export class ConflictJudge {
  readonly #rules: PatternRules;
  readonly #byStrategy: Take | 'unresolved';
  readonly #waiting: Map<string, PathResolution>;
  readonly #stale: string[] = [];

  constructor(strategy: MergeStrategy, resolutions: Resolutions = noResolutions) {
    this.#rules = new PatternRules(resolutions.patterns);
    this.#byStrategy = takeOfStrategy(strategy);
    this.#waiting = new Map(resolutions.exact.map((each) => [nameOf(each.key), each]));
  }

  judge({ key, sides }: MergeDiffIterator): Take | 'unresolved' {
    const exact = this.#waiting.get(nameOf(key));
    if (exact !== undefined) {
      this.#waiting.delete(nameOf(key));
      const isStale = exact.conflictId !== undefined && !exact.conflictId.equals(conflictIdAt(key, sides));
      if (!isStale) return exact.take;
      this.#stale.push(exact.path);
      return 'unresolved';
    }
    const take = this.#rules.takeFor(key);
    if (take === undefined) return this.#byStrategy;
    return take === 'fail' ? 'unresolved' : take;
  }

  /** Refuses resolutions that fit no conflict between two paths (`""`: the end), all of which were judged. */
  refuseUnfit(after: string, upTo: string): void {
    const [from, to] = [Buffer.from(after), Buffer.from(upTo)];
    const unused = [...this.#waiting.values()].filter(
      ({ key }) => Buffer.compare(key, from) > 0 && (upTo === '' || Buffer.compare(key, to) <= 0),
    );
    const stale = [...this.#stale, ...pathsOf(unused, true)];
    if (stale.length > 0) throw movedPaths(stale);
    const [first, ...others] = pathsOf(unused, false);
    if (first === undefined) return;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    throw invalid(`resolution matches no conflict: "${first}"${more}`, 'object');
  }
}

function pathsOf(unused: readonly PathResolution[], byConflict: boolean): string[] {
  return unused.filter(({ conflictId }) => (conflictId !== undefined) === byConflict).map(({ path }) => path);
}

/** Keys may be any bytes; their latin1 text is one to one. */
function nameOf(key: Buffer): string {
  return key.toString('latin1');
}

/** Why a merge with resolutions was refused: it is walked once more, and everything is looked at. */
export async function explainRefusal(
  context: EngineContext,
  scope: RepositoryScope,
  trees: MeetingTrees,
  strategy: MergeStrategy,
  resolutions: Resolutions | undefined,
): Promise<EngineError> {
  const judge = new ConflictJudge(strategy, resolutions);
  const results: Conflict[] = [];
  let unresolved = 0;
  const span: WalkSpan = { forMs: lookingMs };
  const { hasMore, nextOffset } = await walkMerge(context, scope, trees, span, (change) => {
    if (change.type === 'conflict' && judge.judge(change) === 'unresolved') {
      unresolved += 1;
      if (results.length < shownUnresolved) results.push(conflictAt(change));
    }
    return true;
  });
  judge.refuseUnfit('', nextOffset);
  const { sourceCommitId, destinationCommitId, baseCommitId } = trees;
  return new EngineError('conflict', 'conflict found', {
    subject: 'object',
    facts: {
      conflicts: {
        sourceCommitId,
        destinationCommitId,
        baseCommitId,
        unresolved,
        results,
        hasMore: hasMore || results.length < unresolved,
      },
    },
  });
}
