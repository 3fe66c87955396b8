import { homedir } from 'node:os';
import { Key, ValueError } from './key.ts';
import type { Group, RawValue, Values } from './key.ts';

/** Several things wrong inside one value, each a line of its own. */
export class NestedProblems extends ValueError {
  readonly problems: readonly string[];
  readonly unknown: readonly string[];

  constructor(problems: readonly string[], unknown: readonly string[]) {
    super([...problems, ...unknown.map((name) => `unknown key ${name}`)].join('; '));
    this.problems = problems;
    this.unknown = unknown;
  }
}

export function findName(group: Group, name: string): string | undefined {
  const wanted = name.toLowerCase();
  return Object.keys(group).find((known) => known.toLowerCase() === wanted);
}

export function expandHome(value: string): string {
  if (value === '~') return homedir();
  return value.startsWith('~/') ? homedir() + value.slice(1) : value;
}

export function defaultsOf<S extends Group>(group: S): Values<S> {
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(group)) {
    if (member instanceof Key) {
      result[name] = member.path ? expandHome(String(member.default)) : member.default;
    } else {
      result[name] = defaultsOf(member);
    }
  }
  return result as Values<S>;
}

/** Parses one object of a list: names without case, unknown names and bad values collected. */
export function parseGroup<S extends Group>(
  group: S,
  raw: Readonly<Record<string, RawValue>>,
  prefix: string,
): Values<S> {
  const problems: string[] = [];
  const unknown: string[] = [];
  const result = defaultsOf(group) as Record<string, unknown>;
  fill(group, raw, prefix, result, problems, unknown);
  if (problems.length > 0 || unknown.length > 0) throw new NestedProblems(problems, unknown);
  return result as Values<S>;
}

function fill(
  group: Group,
  raw: Readonly<Record<string, RawValue>>,
  prefix: string,
  into: Record<string, unknown>,
  problems: string[],
  unknown: string[],
): void {
  for (const [given, value] of Object.entries(raw)) {
    const name = findName(group, given);
    const path = `${prefix}.${name ?? given}`;
    const member = name === undefined ? undefined : group[name];
    if (name === undefined || member === undefined) {
      unknown.push(path);
    } else if (member instanceof Key) {
      try {
        const parsed = member.parse(value);
        into[name] = member.path ? expandHome(String(parsed)) : parsed;
      } catch (error) {
        if (!(error instanceof ValueError)) throw error;
        const shown = member.secret ? '******' : JSON.stringify(value);
        problems.push(`${path}: ${error.message}, not ${shown}`);
      }
    } else if (typeof value === 'string' || Array.isArray(value)) {
      problems.push(`${path}: must be a map of keys`);
    } else {
      const inner = into[name] as Record<string, unknown>;
      fill(member, value as Readonly<Record<string, RawValue>>, path, inner, problems, unknown);
    }
  }
}
