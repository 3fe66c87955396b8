import type { GarbageClass } from '../../face/gc-runs.ts';
import type { FoundGarbage } from './find-garbage.ts';
import type { Garbage, GarbageWriter } from './garbage-file.ts';
import { ClassTally } from './tally.ts';

export interface CondemnOptions {
  /** The list of the run before, in the order of listings. */
  readonly before: AsyncIterable<Garbage>;
  /** When this run began, in milliseconds. */
  readonly now: number;
  /** How long garbage of a class waits. */
  readonly windowOf: (garbage: GarbageClass) => number;
  /** Whether this run looks for garbage of a class; what is known of others stays as it is. */
  readonly looksFor: (garbage: GarbageClass) => boolean;
  /** No window begins earlier. */
  readonly notBefore: number;
  readonly list: Pick<GarbageWriter, 'add'>;
  readonly due: Pick<GarbageWriter, 'add'>;
}

export type ClassTallies = Readonly<Record<GarbageClass, ClassTally>>;

export interface Condemned {
  readonly classes: ClassTallies;
  /** Milliseconds since 1970; undefined when nothing waits. */
  readonly nextDue: number | undefined;
}

export function classTallies(): ClassTallies {
  return {
    expired: new ClassTally(),
    uncommitted: new ClassTally(),
    tables: new ClassTally(),
    commits: new ClassTally(),
  };
}

/**
 * Joins what is garbage now with what was condemned before. Only what stayed garbage, unchanged, through every run since
 * it was condemned, and for its whole window, is due.
 */
export async function condemn(
  garbage: AsyncIterable<FoundGarbage>,
  options: CondemnOptions,
): Promise<Condemned> {
  const { now, windowOf, looksFor, notBefore, list, due } = options;
  const classes = classTallies();
  const before = options.before[Symbol.asyncIterator]();
  const next = async (): Promise<Garbage | undefined> => {
    const step = await before.next();
    return step.done === true ? undefined : step.value;
  };
  let known = await next();
  let nextDue: number | undefined;
  const isNotFound = async (entry: Garbage): Promise<void> => {
    const tally = classes[entry.class];
    if (looksFor(entry.class)) {
      tally.rescued.add(entry.size);
      return;
    }
    tally.condemned.add(entry.size);
    await list.add(entry);
  };
  for await (const found of garbage) {
    while (known !== undefined && compare(known.address, found.address) < 0) {
      await isNotFound(known);
      known = await next();
    }
    const last = known?.address === found.address ? known : undefined;
    if (last !== undefined) known = await next();
    const isSame = last !== undefined && last.modified === found.modified && last.size === found.size;
    const condemnedAt = isSame ? Math.min(last.condemned_at, now) : now;
    const entry: Garbage = { ...found, condemned_at: condemnedAt };
    const tally = classes[found.class];
    tally.garbage.add(found.size);
    tally.condemned.add(found.size);
    await list.add(entry);
    const dueAt = Math.max(condemnedAt, notBefore) + windowOf(found.class);
    if (dueAt > now) {
      nextDue = Math.min(nextDue ?? dueAt, dueAt);
      continue;
    }
    tally.due.add(found.size);
    await due.add(entry);
  }
  for (; known !== undefined; known = await next()) await isNotFound(known);
  return { classes, nextDue };
}

function compare(left: string, right: string): number {
  return left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right));
}
