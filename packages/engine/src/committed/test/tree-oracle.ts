import type { ImportScope, MergeStrategy } from '../tree.ts';
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
