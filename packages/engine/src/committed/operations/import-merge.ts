import { compareBytes, startsWithBytes } from '@svc/encoding';
import { breathe, copyRecord } from './apply.ts';
import { Pace } from '../pace.ts';
import type { RecordBudget } from './record-budget.ts';
import type { ImportScope } from '../tree.ts';
import { compareRecords, type TreeCursor } from '../reading/tree-cursor.ts';
import type { TreeWriter } from './tree-writer.ts';

export interface ImportWalk {
  readonly imported: TreeCursor;
  readonly destination: TreeCursor;
  readonly scope: ImportScope;
  readonly writer: TreeWriter;
  readonly budget?: RecordBudget | undefined;
}

/** The destination without everything in scope, plus everything imported; an imported key always wins. */
export async function mergeImported(walk: ImportWalk): Promise<string> {
  const { imported, destination, writer } = walk;
  const scope = new ScopeMatcher(walk.scope);
  const pace = new Pace();
  while (imported.state !== 'end' || destination.state !== 'end') {
    const entering = importStep(walk, scope);
    if (entering !== undefined) {
      walk.budget?.spend(entering.meta.recordCount(entering.range));
      await entering.enter();
    }
    if (writer.mustWait || pace.due()) await breathe(writer, pace);
  }
  return writer.finish();
}

/** One step; answers the cursor whose range has to be entered first. */
function importStep(
  { imported, destination, writer }: ImportWalk,
  scope: ScopeMatcher,
): TreeCursor | undefined {
  if (destination.state === 'header') {
    const { meta, range } = destination;
    const min = meta.minKey(range);
    const max = meta.maxKey(range);
    if (scope.coversAll(min, max)) {
      destination.nextRange();
      return undefined;
    }
    if (scope.touches(min, max)) return destination;
  } else if (destination.state === 'record') {
    const { key, keyLength } = destination.records;
    if (scope.has(key.subarray(0, keyLength))) {
      destination.nextRecord();
      return undefined;
    }
  }

  if (imported.state === 'record' && destination.state === 'record') {
    const order = compareRecords(imported.records, destination.records);
    if (order > 0) {
      copyRecord(destination, writer);
    } else {
      copyRecord(imported, writer);
      imported.nextRecord();
    }
    if (order >= 0) destination.nextRecord();
    return undefined;
  }
  if (imported.state === 'header' && destination.state === 'header') {
    if (imported.meta.compareMax(imported.range, destination.meta.minKey(destination.range)) < 0) {
      return reuse(writer, imported);
    }
    if (destination.meta.compareMax(destination.range, imported.meta.minKey(imported.range)) < 0) {
      return reuse(writer, destination);
    }
    return imported;
  }
  const [atRecord, other] = imported.state === 'record' ? [imported, destination] : [destination, imported];
  if (atRecord.state !== 'record') return reuse(writer, imported.state === 'header' ? imported : destination);
  const { key, keyLength } = atRecord.records;
  if (other.state === 'header' && other.meta.compareMin(other.range, key, keyLength) <= 0) {
    if (other.meta.compareMax(other.range, key, 0, keyLength) < 0) return reuse(writer, other);
    return other;
  }
  copyRecord(atRecord, writer);
  atRecord.nextRecord();
  return undefined;
}

function reuse(writer: TreeWriter, cursor: TreeCursor): undefined {
  writer.addRange(cursor.meta, cursor.range);
  cursor.nextRange();
}

/** Answers what an import replaces. */
class ScopeMatcher {
  readonly #prefixes: readonly Buffer[];
  readonly #keys: readonly Buffer[];

  constructor(scope: ImportScope) {
    this.#prefixes = withoutNested(scope.prefixes);
    this.#keys = scope.keys.map((key) => Buffer.from(key)).sort(compareBytes);
  }

  has(key: Uint8Array): boolean {
    const prefix = this.#prefixes[lastNotAbove(this.#prefixes, key)];
    if (prefix !== undefined && startsWithBytes(key, prefix)) return true;
    const exact = this.#keys[lastNotAbove(this.#keys, key)];
    return exact !== undefined && compareBytes(exact, key) === 0;
  }

  /** One prefix holds every key from `min` to `max`. */
  coversAll(min: Uint8Array, max: Uint8Array): boolean {
    const prefix = this.#prefixes[lastNotAbove(this.#prefixes, min)];
    return prefix !== undefined && startsWithBytes(min, prefix) && startsWithBytes(max, prefix);
  }

  /** Some key from `min` to `max` may be in scope. */
  touches(min: Uint8Array, max: Uint8Array): boolean {
    if (this.has(min)) return true;
    return [this.#prefixes, this.#keys].some((sorted) => {
      const next = sorted[lastNotAbove(sorted, min) + 1];
      return next !== undefined && compareBytes(next, max) <= 0;
    });
  }
}

/** Sorted, without prefixes that another prefix covers: at most one then holds a key. */
function withoutNested(prefixes: readonly Uint8Array[]): Buffer[] {
  const kept: Buffer[] = [];
  for (const prefix of prefixes.map((bytes) => Buffer.from(bytes)).sort(compareBytes)) {
    const last = kept.at(-1);
    if (last === undefined || !startsWithBytes(prefix, last)) kept.push(prefix);
  }
  return kept;
}

/** The index of the last item <= `key`, or -1. */
function lastNotAbove(sorted: readonly Buffer[], key: Uint8Array): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(sorted[middle] as Buffer, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
