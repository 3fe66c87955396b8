import { compareBytes, decodeValue } from '@svc/encoding';
import { CorruptTableError, type TableCheck } from '@svc/sstable';
import { createHash } from 'node:crypto';
import { decodeRangeValue } from '../committed/format/meta-range.ts';
import type { DamageFinding } from './finding.ts';
import { IdSet, isContentId } from './id-set.ts';
import type { CheckedTable, StoredTables, TableProblem } from './stored-tables.ts';
import type { VerifyProgress } from './verify-repository.ts';

/** Tables on their way from the store at once. */
const atOnce = 4;

/** What a metarange tells of a range. */
interface NamedRange {
  readonly id: string;
  readonly minKey: Buffer;
  readonly maxKey: Buffer;
  readonly count: number;
  readonly estimatedSize: number;
}

/** Verifies metaranges and their ranges, each once however many name it. */
export class TreeVerifier {
  readonly #repository: string;
  readonly #tables: StoredTables;
  readonly #progress: VerifyProgress;
  readonly #metaRanges = new IdSet();
  /** With each range goes a digest of what was told of it when it was read. */
  readonly #ranges = new IdSet();
  readonly #damagedRanges = new Set<string>();
  /** Ranges, each with a digest of what was told of it wrongly. */
  readonly #misnamed = new Set<string>();
  /** Metaranges that are damaged themselves or name damaged ranges. */
  readonly #concerned = new Map<string, readonly string[]>();

  constructor(repository: string, tables: StoredTables, progress: VerifyProgress) {
    this.#repository = repository;
    this.#tables = tables;
    this.#progress = progress;
  }

  /** The damaged tables of a tree that was verified. */
  damagedIn(metaRangeId: string): readonly string[] {
    return this.#concerned.get(metaRangeId) ?? [];
  }

  /** Reads a tree; what was read before is not read again. */
  async *verify(metaRangeId: string): AsyncGenerator<DamageFinding> {
    if (!isContentId(metaRangeId)) {
      if (this.#concerned.has(metaRangeId)) return;
      this.#concerned.set(metaRangeId, [metaRangeId]);
      yield this.#finding('metarange', metaRangeId, {
        problem: 'damaged',
        reason: 'this is no id of a metarange',
        lost: [],
      });
      return;
    }
    if (this.#metaRanges.has(metaRangeId)) return;
    this.#metaRanges.add(metaRangeId);
    const named: NamedRange[] = [];
    const wrong: string[] = [];
    const checked = await this.#tables.check('metarange', metaRangeId, (key, value) => {
      const range = namedRange(value);
      const before = named.at(-1);
      if (!range.maxKey.equals(key)) wrong.push(`the record of range ${range.id} lies under another key`);
      if (before !== undefined && compareBytes(before.maxKey, range.minKey) >= 0)
        wrong.push(`ranges ${before.id} and ${range.id} overlap`);
      named.push(range);
    });
    this.#count('metaRanges', checked);
    const damaged: string[] = [];
    const [firstWrong] = wrong;
    const problem =
      checked.problem ??
      (firstWrong === undefined
        ? undefined
        : ({ problem: 'inconsistent', reason: firstWrong, lost: [] } as const));
    if (problem !== undefined) {
      damaged.push(metaRangeId);
      yield this.#finding('metarange', metaRangeId, problem);
    }
    for (let at = 0; at < named.length; at += atOnce) {
      const some = named.slice(at, at + atOnce);
      for (const finding of await Promise.all(some.map((range) => this.#verifyRange(range))))
        if (finding !== undefined) yield finding;
    }
    for (const range of named) if (this.#isDamaged(range)) damaged.push(range.id);
    if (damaged.length > 0) this.#concerned.set(metaRangeId, damaged);
  }

  async #verifyRange(range: NamedRange): Promise<DamageFinding | undefined> {
    const keys = { first: range.minKey, last: range.maxKey };
    if (!isContentId(range.id)) {
      if (this.#damagedRanges.has(range.id)) return undefined;
      this.#damagedRanges.add(range.id);
      const problem = { problem: 'damaged', reason: 'this is no id of a range', lost: [] } as const;
      return { ...this.#finding('range', range.id, problem), keys };
    }
    const note = digestOf(range);
    const seen = this.#ranges.get(range.id);
    // Two metaranges disagree about it, so at least one is wrong: read it again.
    if (seen?.equals(note) === true) return undefined;
    this.#ranges.add(range.id, note);
    const checked = await this.#tables.check('range', range.id, readValue);
    this.#count('ranges', checked);
    const problem = checked.problem ?? (checked.check && disagreement(range, checked.check));
    if (problem === undefined) return undefined;
    if (problem.problem === 'inconsistent') this.#misnamed.add(misnamed(range));
    else this.#damagedRanges.add(range.id);
    return { ...this.#finding('range', range.id, problem), keys };
  }

  #isDamaged(range: NamedRange): boolean {
    if (this.#damagedRanges.has(range.id)) return true;
    return this.#misnamed.size > 0 && this.#misnamed.has(misnamed(range));
  }

  #finding(kind: 'metarange' | 'range', id: string, problem: TableProblem): DamageFinding {
    return { type: 'damage', repository: this.#repository, kind, id, ...problem };
  }

  #count(what: 'metaRanges' | 'ranges', checked: CheckedTable): void {
    this.#progress[what]++;
    this.#progress.bytes += checked.bytes;
  }
}

function readValue(_key: Buffer, value: Buffer): void {
  try {
    decodeValue(value);
  } catch (error) {
    throw new CorruptTableError('a record is unreadable', { cause: error });
  }
}

function namedRange(value: Buffer): NamedRange {
  const { identity, minKey, maxKey, count, estimatedSize } = decodeRangeValue(value);
  return {
    id: identity.toString('latin1'),
    minKey: Buffer.from(minKey),
    maxKey: Buffer.from(maxKey),
    count,
    estimatedSize,
  };
}

function disagreement(range: NamedRange, check: TableCheck): TableProblem | undefined {
  const differences = [
    range.minKey.equals(check.minKey) ? undefined : 'first key',
    range.maxKey.equals(check.maxKey) ? undefined : 'last key',
    range.count === check.count ? undefined : `count (${range.count}, not ${check.count})`,
    check.estimatedSize === undefined || range.estimatedSize === check.estimatedSize
      ? undefined
      : `size (${range.estimatedSize}, not ${check.estimatedSize})`,
  ].filter((difference) => difference !== undefined);
  if (differences.length === 0) return undefined;
  return {
    problem: 'inconsistent',
    reason: `a metarange tells another ${differences.join(', ')}`,
    lost: [],
  };
}

function misnamed(range: NamedRange): string {
  return `${range.id} ${digestOf(range).toString('hex')}`;
}

function digestOf({ minKey, maxKey, count, estimatedSize }: NamedRange): Buffer {
  const hash = createHash('sha256').update(`${minKey.length} ${maxKey.length} ${count} ${estimatedSize} `);
  return hash.update(minKey).update(maxKey).digest().subarray(0, 8);
}
