import { compareBytes } from '@svc/encoding';
import { blockIsBelowKey, breathe, copyBlock, copyRecord, recordsPerBlock, resumeRange } from './apply.ts';
import { changeListPath, readChangeList } from './change-list.ts';
import { sameIdentity } from './identity.ts';
import type { MergeWalk } from './merge.ts';
import type { MetaRange } from './meta-range.ts';
import type { Namespace } from './namespace.ts';
import type { TableLease } from './open-tables.ts';
import { Pace } from './pace.ts';
import type { TableStore } from './table-store.ts';
import type { MergeResult } from './tree.ts';

/** What a merge needs to use the lists that the writers of its ranges left. */
export interface ListedMergeSite {
  readonly store: TableStore;
  readonly namespace: Namespace;
}

/** The source's changes to one range: the value to put in stored form, or undefined to leave the key out. */
type Decision = { readonly key: Buffer; readonly value: Buffer | undefined };

/**
 * Both sides changed the same base range, no other range overlaps the three, and both writers left the list of keys
 * they changed: then all but those keys are the base's records on both sides, and only the source's keys need a
 * look. Answers the list, or undefined when the records have to be compared one by one.
 */
export function findListedChanges(walk: MergeWalk, namespace: Namespace): Buffer[] | undefined {
  const { source, destination, base } = walk;
  const b = base.rangeOverlapping(source.meta, source.range);
  if (b === undefined || base.rangeOverlapping(destination.meta, destination.range) !== b) return undefined;
  const ranges = [
    { meta: source.meta, range: source.range },
    { meta: destination.meta, range: destination.range },
    { meta: base.meta, range: b },
  ];
  if (ranges.some((one) => ranges.some((other) => overlapsNext(one, other)))) return undefined;
  const folder = namespace.rangeFolder;
  const baseId = base.meta.id(b);
  const changed = readChangeList(changeListPath(folder, baseId, source.meta.id(source.range)));
  if (changed === undefined) return undefined;
  // The destination's list matters only as proof that its other records are the base's, byte for byte.
  const other = readChangeList(changeListPath(folder, baseId, destination.meta.id(destination.range)));
  return other === undefined ? undefined : changed;
}

interface RangeAt {
  readonly meta: MetaRange;
  readonly range: number;
}

function overlapsNext(one: RangeAt, other: RangeAt): boolean {
  return (
    one.range + 1 < one.meta.count && one.meta.compareMin(one.range + 1, other.meta.maxKey(other.range)) <= 0
  );
}

/** Writes the destination's range with the source's changes in it. */
export async function mergeListed(
  walk: MergeWalk,
  site: ListedMergeSite,
  keys: readonly Buffer[],
): Promise<MergeResult | undefined> {
  const { source, destination, base, writer } = walk;
  walk.budget?.spend(destination.meta.recordCount(destination.range));
  const b = base.rangeOverlapping(source.meta, source.range) as number;
  const ids = [
    base.meta.id(b),
    source.meta.id(source.range),
    destination.meta.id(destination.range),
  ] as const;
  const decided = await decide(walk, site, keys, ids);
  if (!Array.isArray(decided)) return decided;

  await destination.enter();
  const first = decided[0];
  if (first !== undefined) resumeRange(destination, writer, first.key, 0, first.key.length);
  const pace = new Pace();
  let next = 0;
  for (const { range } = destination; ;) {
    const decision = decided[next];
    const atRecord = destination.state === 'record' && destination.range === range;
    if (decision === undefined && !atRecord) break;
    if (
      atRecord &&
      destination.records.startsBlock &&
      (decision === undefined || blockIsBelowKey(destination, decision.key, 0, decision.key.length)) &&
      copyBlock(destination, writer)
    ) {
      if (writer.mustWait || pace.due(recordsPerBlock)) await breathe(writer, pace);
      continue;
    }
    const order = !atRecord ? 1 : decision === undefined ? -1 : destination.records.compareKey(decision.key);
    if (order < 0) {
      copyRecord(destination, writer);
      destination.nextRecord();
    } else {
      const { key, value } = decision as Decision;
      if (value !== undefined) writer.addRecord(key, 0, key.length, value, 0, value.length);
      if (order === 0) destination.nextRecord();
      next++;
    }
    if (writer.mustWait || pace.due()) await breathe(writer, pace);
  }
  source.nextRange();
  return undefined;
}

async function decide(
  walk: MergeWalk,
  { store, namespace }: ListedMergeSite,
  keys: readonly Buffer[],
  ids: readonly string[],
): Promise<Decision[] | MergeResult> {
  const tables: TableLease[] = [];
  try {
    for (const id of ids) tables.push(await store.openRange(namespace, id));
    const decisions: Decision[] = [];
    for (const key of keys.toSorted(compareBytes)) {
      const [b, s, d] = tables.map((table) => table.get(key));
      if (same(b, s)) continue;
      const contested = !same(s, d) && !same(b, d);
      if (contested && walk.strategy === 'none') return { kind: 'conflict', key };
      if (contested && walk.strategy === 'dest-wins') continue;
      decisions.push({ key, value: s === undefined ? undefined : Buffer.from(s) });
    }
    return decisions;
  } finally {
    for (const table of tables) table.release();
  }
}

function same(a: Buffer | undefined, b: Buffer | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return sameIdentity(a, 0, a.length, b, 0, b.length);
}
