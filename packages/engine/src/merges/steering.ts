import type { MergeStrategy } from '../committed/tree.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import type { Steering } from '../face/merges.ts';
import { checkHashId } from '../names/names.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { areByConflict, parseResolutions, type Resolutions } from './resolutions.ts';

/** How a merge is to settle conflicts, checked. */
export interface Steered {
  readonly strategy: MergeStrategy;
  /** Only when there are some. */
  readonly resolutions: Resolutions | undefined;
  /** The caller knows of pins and resolutions: refusals then say more. */
  readonly isSteered: boolean;
}

export function parseStrategy(strategy: string | undefined): MergeStrategy {
  if (strategy === undefined || strategy === '') return 'none';
  if (strategy === 'dest-wins' || strategy === 'source-wins') return strategy;
  throw invalid('argument strategy: invalid value: validation error: use dest-wins or source-wins');
}

/** `expectedSource` is undefined where the source cannot move. */
export async function parseSteering(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
  steering: Steering & { readonly expectedSource?: string | undefined; readonly fixedSource?: boolean },
): Promise<Steered> {
  const strategy = parseStrategy(steering.strategy);
  const { expectedSource, expectedDestination, resolutions } = steering;
  if (expectedSource !== undefined) checkHashId(expectedSource, 'expected_source');
  if (expectedDestination !== undefined) checkHashId(expectedDestination, 'expected_destination');
  const isSteered =
    expectedSource !== undefined || expectedDestination !== undefined || resolutions !== undefined;
  if (resolutions === undefined || resolutions.length === 0) {
    return { strategy, resolutions: undefined, isSteered };
  }
  const sourceIsPinned = steering.fixedSource === true || expectedSource !== undefined;
  if (!(sourceIsPinned && expectedDestination !== undefined) && !areByConflict(resolutions)) {
    throw invalid(
      steering.fixedSource === true
        ? 'resolutions need expected_destination, or a conflict_id per path'
        : 'resolutions need expected_source and expected_destination, or a conflict_id per path',
    );
  }
  return { strategy, resolutions: await parseResolutions(context, scope, branch, resolutions), isSteered };
}
