import { encodeValue } from '@svc/encoding';
import { conflictIdOf } from '../format/conflict-id.ts';
import { packTake } from '../operations/conflict-policy.ts';
import type { MergeStrategy, PatternResolution, Take, TreeRecord } from '../tree.ts';
import type { Random } from './random-history.ts';
import { type Model, sorted, toRecord } from './tree-fixture.ts';
import { allKeys, type ExactResolution, type ModelResolutions } from './tree-oracle.ts';

export interface ModelSides {
  readonly base: Model;
  readonly source: Model;
  readonly destination: Model;
}

const takes: readonly Take[] = ['source', 'destination', 'base', 'delete', 'object'];
const patternTakes = ['source', 'destination', 'base', 'delete', 'fail'] as const;
const strategies: readonly MergeStrategy[] = ['none', 'none', 'source-wins', 'dest-wins'];
const patterns = ['a/', 'b', '', 'a/*', '**/a*', '**', '{b,c}/**', '?*', 'é/**'];

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.below(from.length)]!;
}

/** Resolutions that mostly fit, so that merges happen; some are stale or for no conflict. */
export function randomResolutions(
  random: Random,
  { base, source, destination }: ModelSides,
): ModelResolutions {
  const share = pick(random, [0, 30, 100]);
  const exact = new Map<string, ExactResolution>();
  for (const key of allKeys(base, source, destination)) {
    const [b, s, d] = [base.get(key), source.get(key), destination.get(key)];
    const conflicts = s !== d && b !== d && b !== s;
    if (!random.chance(conflicts ? share : 1)) continue;
    const take = pick(random, takes);
    exact.set(key, {
      take,
      content: take === 'object' ? `o${random.below(3)}` : undefined,
      stale: random.chance(1),
    });
  }
  if (random.chance(3)) exact.set('not/there', { take: 'source' });
  const rules: PatternResolution[] = [];
  for (let count = random.below(4); count > 0; count -= 1) {
    const kind = random.chance(50) ? 'prefix' : 'glob';
    rules.push({ kind, pattern: pick(random, patterns), take: pick(random, patternTakes) });
  }
  return { strategy: pick(random, strategies), patterns: rules, exact };
}

/** As the engine hands them down: half of them with the id of their conflict, stale ones with another. */
export function resolutionRecords(
  { base, source, destination }: ModelSides,
  exact: ReadonlyMap<string, ExactResolution>,
): TreeRecord[] {
  return sorted(new Map([...exact.keys()].map((key) => [key, '']))).map(([path], index) => {
    const { take, content, stale } = exact.get(path)!;
    const key = Buffer.from(path);
    const identity = (model: Model): Buffer | undefined => {
      const found = model.get(path);
      return found === undefined ? undefined : Buffer.from(found);
    };
    const id =
      stale === true
        ? conflictIdOf(key, Buffer.from('another'))
        : conflictIdOf(key, identity(base), identity(source), identity(destination));
    const record = toRecord(path, content ?? '');
    return {
      key,
      identity: packTake(take, stale === true || index % 2 === 0 ? id : undefined),
      data: take === 'object' ? encodeValue(record.identity, record.data) : Buffer.alloc(0),
    };
  });
}
