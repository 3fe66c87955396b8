import { compilePathGlob } from '@svc/patterns';
import type { ImportScope, MergeStrategy, PatternResolution, Take } from '../tree.ts';
import { type Model, sorted } from './tree-fixture.ts';

/** What the operations must answer, worked out key by key over plain maps. */
export function allKeys(...models: Model[]): string[] {
  const keys = new Set(models.flatMap((model) => [...model.keys()]));
  return sorted(new Map([...keys].map((key) => [key, '']))).map(([key]) => key);
}

export function expectedDiff(left: Model, right: Model): string[] {
  return allKeys(left, right).flatMap((key) => {
    const l = left.get(key);
    const r = right.get(key);
    if (l === r) return [];
    if (l === undefined) return [`added ${key}=${r}`];
    if (r === undefined) return [`removed ${key}=${l}`];
    return [`changed ${key}=${r}`];
  });
}

export type MergeOutcome = { result: Model } | { conflict: string };

export function expectedMerge(
  base: Model,
  source: Model,
  destination: Model,
  strategy: MergeStrategy,
): MergeOutcome {
  const result = new Map<string, string>();
  for (const key of allKeys(base, source, destination)) {
    const b = base.get(key);
    const s = source.get(key);
    const d = destination.get(key);
    let taken: string | undefined;
    if (s === d || b === d) taken = s;
    else if (b === s) taken = d;
    else if (strategy === 'none') return { conflict: key };
    else taken = strategy === 'source-wins' ? s : d;
    if (taken !== undefined) result.set(key, taken);
  }
  return { result };
}

/** A resolution of one path; a stale one is for other versions than those that meet. */
export interface ExactResolution {
  readonly take: Take;
  readonly content?: string | undefined;
  readonly stale?: boolean | undefined;
}

export interface ModelResolutions {
  readonly strategy: MergeStrategy;
  readonly patterns: readonly PatternResolution[];
  readonly exact: ReadonlyMap<string, ExactResolution>;
}

export type ResolvedOutcome = { result: Model; resolved: Record<Take, number> } | { refused: true };

export function expectedResolvedMerge(
  base: Model,
  source: Model,
  destination: Model,
  { strategy, patterns, exact }: ModelResolutions,
): ResolvedOutcome {
  const result = new Map<string, string>();
  const resolved = { source: 0, destination: 0, base: 0, delete: 0, object: 0 };
  const unused = new Set(exact.keys());
  for (const key of allKeys(base, source, destination)) {
    const b = base.get(key);
    const s = source.get(key);
    const d = destination.get(key);
    let taken: string | undefined;
    if (s === d || b === d) taken = s;
    else if (b === s) taken = d;
    else {
      const given = exact.get(key);
      unused.delete(key);
      if (given?.stale === true) return { refused: true };
      const matching = patterns.find(({ kind, pattern }) =>
        kind === 'prefix' ? key.startsWith(pattern) : compilePathGlob(pattern).test(key),
      );
      const take = given?.take ?? matching?.take;
      if (take === 'fail' || (take === undefined && strategy === 'none')) return { refused: true };
      if (take !== undefined) resolved[take] += 1;
      const side = take ?? (strategy === 'source-wins' ? 'source' : 'destination');
      taken = { source: s, destination: d, base: b, delete: undefined, object: given?.content }[side];
    }
    if (taken !== undefined) result.set(key, taken);
  }
  return unused.size > 0 ? { refused: true } : { result, resolved };
}

export function expectedMergeDiff(base: Model, source: Model, destination: Model): string[] {
  return allKeys(base, source, destination).flatMap((key) => {
    const b = base.get(key);
    const s = source.get(key);
    const d = destination.get(key);
    if (s === b || s === d) return [];
    if (b !== d) return [`conflict ${key}=${s ?? d}`];
    if (s === undefined) return [`removed ${key}=${d}`];
    return [`${d === undefined ? 'added' : 'changed'} ${key}=${s}`];
  });
}

export function expectedImport(destination: Model, imported: Model, scope: ImportScope): Model {
  const result = new Map<string, string>();
  for (const [key, content] of destination) {
    const replaced =
      scope.prefixes.some((prefix) => key.startsWith(prefix.toString())) ||
      scope.keys.some((exact) => exact.toString() === key);
    if (!replaced) result.set(key, content);
  }
  for (const [key, content] of imported) result.set(key, content);
  return result;
}
