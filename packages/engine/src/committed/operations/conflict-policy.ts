import { compareSlices, decodeValue, ValueParts } from '@svc/encoding';
import { compilePathGlob } from '@svc/patterns';
import type { TableCursor } from '@svc/sstable';
import { conflictIdBytes, conflictIdOf } from '../format/conflict-id.ts';
import type { MergeStrategy, PatternResolution, Take, TakeCounts } from '../tree.ts';
import type { PackedChanges } from './packed-changes.ts';

/** `unfit`: a resolution is for another conflict than the one at its path. */
export type Settlement = Take | 'unresolved' | 'unfit';

/** Takes as they are packed. */
const takes: readonly Take[] = ['source', 'destination', 'base', 'delete', 'object'];

/** A resolution of one path as a record: the take and, where one is given, the conflict's id. */
export function packTake(take: Take, conflictId?: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(takes.indexOf(take)), conflictId ?? Buffer.alloc(0)]);
}

export function noTakes(): Record<Take, number> {
  return { source: 0, destination: 0, base: 0, delete: 0, object: 0 };
}

/** Who settles a conflict that no resolution of its path does: the first pattern that matches, else the strategy. */
export class PatternRules {
  readonly #rules: readonly {
    readonly matches: (key: Buffer) => boolean;
    readonly take: PatternResolution['take'];
  }[];

  constructor(patterns: readonly PatternResolution[]) {
    this.#rules = patterns.map(({ kind, pattern, take }) => {
      if (kind === 'prefix') {
        const prefix = Buffer.from(pattern);
        return {
          matches: (key) => key.length >= prefix.length && prefix.compare(key, 0, prefix.length) === 0,
          take,
        };
      }
      const glob = compilePathGlob(pattern);
      return { matches: (key) => glob.test(key.toString()), take };
    });
  }

  /** Undefined when none matches. */
  takeFor(key: Buffer): PatternResolution['take'] | undefined {
    return this.#rules.find((rule) => rule.matches(key))?.take;
  }
}

export function takeOfStrategy(strategy: MergeStrategy): Take | 'unresolved' {
  if (strategy === 'none') return 'unresolved';
  return strategy === 'source-wins' ? 'source' : 'destination';
}

/**
 * Settles the conflicts of a merge, which come in key order, by resolutions. Those of single paths come in key order,
 * too, so that one of them is held at a time.
 */
export class ConflictPolicy {
  /** What resolutions settled; the strategy's share is not counted. */
  readonly counts: Record<Take, number> = noTakes();
  /** The stored value that `object` takes. */
  readonly value: { bytes: Buffer; start: number; end: number } = {
    bytes: Buffer.alloc(0),
    start: 0,
    end: 0,
  };
  readonly #byStrategy: Take | 'unresolved';
  readonly #rules: PatternRules;
  readonly #exact: PackedChanges;
  readonly #parts = new ValueParts();
  /** The resolution of a path that `#exact` stands at was used, or none was read yet. */
  #isUsed = true;

  constructor(strategy: MergeStrategy, patterns: readonly PatternResolution[], exact: PackedChanges) {
    this.#byStrategy = takeOfStrategy(strategy);
    this.#rules = new PatternRules(patterns);
    this.#exact = exact;
  }

  /** A promise when more resolutions have to come first; ask again then. */
  settle(
    key: Buffer,
    base: TableCursor | undefined,
    source: TableCursor | undefined,
    destination: TableCursor | undefined,
  ): Settlement | Promise<void> {
    const moving = this.#toUnused();
    if (moving !== undefined) return moving;
    const exact = this.#exact;
    if (exact.live) {
      const order = compareSlices(exact.bytes, exact.keyStart, exact.keyEnd, key, 0, key.length);
      if (order < 0) return 'unfit';
      if (order === 0) {
        this.#isUsed = true;
        return this.#exactly(key, base, source, destination);
      }
    }
    const take = this.#rules.takeFor(key);
    if (take === undefined) return this.#byStrategy;
    if (take === 'fail') return 'unresolved';
    this.counts[take] += 1;
    return take;
  }

  /** After the last conflict: the path of a resolution that was not used. */
  unusedPath(): Buffer | undefined | Promise<void> {
    const moving = this.#toUnused();
    if (moving !== undefined) return moving;
    const exact = this.#exact;
    return exact.live ? Buffer.from(exact.bytes.subarray(exact.keyStart, exact.keyEnd)) : undefined;
  }

  #exactly(
    key: Buffer,
    base: TableCursor | undefined,
    source: TableCursor | undefined,
    destination: TableCursor | undefined,
  ): Settlement {
    const { bytes, valueStart, valueEnd } = this.#exact;
    const parts = this.#parts;
    parts.read(bytes, valueStart, valueEnd);
    const take = takes[bytes[parts.identityStart] ?? -1];
    if (take === undefined) throw new Error('a packed resolution is unreadable');
    const meant = bytes.subarray(parts.identityStart + 1, parts.identityEnd);
    if (meant.length === conflictIdBytes) {
      const current = conflictIdOf(key, identityAt(base), identityAt(source), identityAt(destination));
      if (!current.equals(meant)) return 'unfit';
    }
    Object.assign(this.value, { bytes, start: parts.dataStart, end: parts.dataEnd });
    this.counts[take] += 1;
    return take;
  }

  #toUnused(): Promise<void> | undefined {
    if (!this.#isUsed) return undefined;
    const more = this.#exact.next();
    if (typeof more === 'boolean') {
      this.#isUsed = false;
      return undefined;
    }
    return more.then(() => {
      this.#isUsed = false;
    });
  }
}

export function hasTakes(counts: TakeCounts): boolean {
  return Object.values(counts).some((count) => count > 0);
}

function identityAt(record: TableCursor | undefined): Buffer | undefined {
  if (record === undefined) return undefined;
  return decodeValue(record.block.subarray(record.valueStart, record.valueEnd)).identity;
}
