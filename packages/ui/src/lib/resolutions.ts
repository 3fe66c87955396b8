import { compilePathGlob, PatternError } from '@svc/patterns';
import type { Conflict, Resolution, ResolutionObject } from './api.ts';

export type Take = Exclude<Resolution['take'], 'fail'>;
export type SideTake = Exclude<Take, 'object' | 'append'>;

/** What was chosen for one conflict. Another version on any side makes it another conflict. */
export interface Choice {
  readonly conflictId: string;
  readonly take: Take;
  readonly object?: ResolutionObject;
}

/** Settles every conflict whose path matches; an empty pattern matches all. */
export interface Rule {
  readonly pattern: string;
  readonly take: SideTake;
}

export interface Decisions {
  readonly choices: ReadonlyMap<string, Choice>;
  readonly rules: readonly Rule[];
}

export const noDecisions: Decisions = { choices: new Map(), rules: [] };

/** Undefined when the pattern cannot be read. */
export function matcherOf(pattern: string): ((path: string) => boolean) | undefined {
  if (pattern === '') return () => true;
  // Without wildcards a text is looked for anywhere, as in every other filter.
  if (!/[*?[{\\]/.test(pattern)) return (path) => path.includes(pattern);
  try {
    const glob = compilePathGlob(pattern);
    return (path) => glob.test(path);
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}

/** The glob that means the same as a filter. */
function globOf(pattern: string): string {
  return /[*?[{\\]/.test(pattern) ? pattern : `**${pattern.replaceAll(/[\]}]/g, '\\$&')}**`;
}

export function isStale({ choices }: Decisions, { path, conflict_id }: Conflict): boolean {
  const choice = choices.get(path);
  return choice !== undefined && choice.conflictId !== conflict_id;
}

/** What settles a conflict; undefined when nothing does. */
export function takeOf({ choices, rules }: Decisions, { path, conflict_id }: Conflict): Take | undefined {
  const choice = choices.get(path);
  if (choice !== undefined) return choice.conflictId === conflict_id ? choice.take : undefined;
  return rules.find(({ pattern }) => matcherOf(pattern)?.(path) === true)?.take;
}

/** As the API takes them. Choices for conflicts that are no more are left out. */
export function resolutionsOf({ choices, rules }: Decisions, conflicts: readonly Conflict[]): Resolution[] {
  const exact = conflicts.flatMap(({ path, conflict_id }): Resolution[] => {
    const choice = choices.get(path);
    if (choice === undefined || choice.conflictId !== conflict_id) return [];
    const { take, object } = choice;
    return [{ path, take, conflict_id, ...(object !== undefined && { object }) }];
  });
  const patterns = rules.map(({ pattern, take }): Resolution =>
    pattern === '' ? { prefix: '', take } : { glob: globOf(pattern), take },
  );
  return [...exact, ...patterns];
}
