import { createHash } from 'node:crypto';
import { decodeValue, encodeValue } from '@svc/encoding';
import { compilePathGlob } from '@svc/patterns';
import { conflictIdOf } from '../src/committed/format/conflict-id.ts';
import type { CommittedContext } from '../src/committed/context.ts';
import type {
  ApplyResult,
  ChangeIterator,
  CommittedTrees,
  DiffIterator,
  DiffType,
  DumpProperties,
  ImportScope,
  MergeDiffIterator,
  MergeInput,
  MergeResult,
  MergeSides,
  PatternResolution,
  RecordIterator,
  TableDescription,
  Take,
  TreeOutline,
  TreeRange,
  TreeRecord,
  UseValue,
} from '../src/committed/tree.ts';

/** Id of a tree that was written without any record. */
export const emptyTreeId = '00fb7eff1a97c500eb3ca8d2ef5464131d6b6a5f9512e41eba97843522213b66';

interface DiffRecord extends TreeRecord {
  readonly type: DiffType;
  readonly sides?: MergeSides;
}

type Tree = ReadonlyMap<string, TreeRecord>;

/** Committed trees as plain maps, every rule written the short way: the oracle of the engine's tests. */
export class NaiveTrees implements CommittedTrees {
  readonly #trees = new Map<string, Tree>([
    ['', new Map()],
    [emptyTreeId, new Map()],
  ]);
  readonly #entities = new Map<string, string>();
  /** Decides per step whether an iterator answers at once or with a promise. */
  readonly #answersLater: () => boolean;

  constructor(answersLater: () => boolean = () => false) {
    this.#answersLater = answersLater;
  }

  /** The whole content of a tree, by key in latin1. */
  content(id: string): Tree {
    const tree = this.#trees.get(id);
    if (tree === undefined) throw new Error(`no tree ${id}`);
    return tree;
  }

  get(_context: CommittedContext, id: string, key: Uint8Array): Promise<TreeRecord | undefined> {
    return Promise.resolve(this.content(id).get(text(key)));
  }

  getAtOnce(_context: CommittedContext, id: string, key: Uint8Array): TreeRecord | undefined | null {
    return this.#answersLater() ? null : this.content(id).get(text(key));
  }

  iterate(_context: CommittedContext, id: string, from?: Uint8Array): RecordIterator {
    return new ArrayIterator(sorted(this.content(id)), this.#answersLater, from);
  }

  async apply(_context: CommittedContext, baseId: string, changes: ChangeIterator): Promise<ApplyResult> {
    const tree = new Map(this.content(baseId));
    let [added, removed, changed] = [0, 0, 0];
    while (await changes.next()) {
      const record = copy(changes);
      const key = text(record.key);
      const before = tree.get(key);
      if (record.identity.length === 0) {
        if (tree.delete(key)) removed += 1;
      } else if (before === undefined) {
        added += 1;
        tree.set(key, record);
      } else if (!before.identity.equals(record.identity)) {
        changed += 1;
        tree.set(key, record);
      }
    }
    return { metaRangeId: this.#store(tree), added, removed, changed };
  }

  diff(_context: CommittedContext, leftId: string, rightId: string, from?: Uint8Array): DiffIterator {
    const left = this.content(leftId);
    const right = this.content(rightId);
    const differences: DiffRecord[] = [];
    for (const key of keysOf(left, right)) {
      const before = left.get(key);
      const after = right.get(key);
      if (before === undefined && after !== undefined) differences.push({ ...after, type: 'added' });
      else if (before !== undefined && after === undefined) differences.push({ ...before, type: 'removed' });
      else if (!same(before, after)) differences.push({ ...after!, type: 'changed' });
    }
    return new ArrayDiff(differences, this.#answersLater, from);
  }

  mergeDiff(
    _context: CommittedContext,
    input: Omit<MergeInput, 'strategy'>,
    from?: Uint8Array,
  ): MergeDiffIterator {
    const base = this.content(input.base);
    const source = this.content(input.source);
    const destination = this.content(input.destination);
    const differences: DiffRecord[] = [];
    for (const key of keysOf(base, source, destination)) {
      const [b, s, d] = [base.get(key), source.get(key), destination.get(key)];
      if (same(s, d) || same(s, b)) continue;
      const sides = { base: stored(b), source: stored(s), destination: stored(d) };
      if (!same(d, b)) differences.push({ ...(s ?? d!), type: 'conflict', sides });
      else if (s === undefined) differences.push({ ...d!, type: 'removed', sides });
      else differences.push({ ...s, type: b === undefined ? 'added' : 'changed', sides });
    }
    return new ArrayMergeDiff(differences, this.#answersLater, from);
  }

  /** Conflict by conflict, over the merge that lets the source win. */
  async mergeResolved(
    context: CommittedContext,
    input: MergeInput & { readonly patterns: readonly PatternResolution[] },
    exact: RecordIterator,
  ): Promise<MergeResult> {
    const resolutions = new Map<string, TreeRecord>();
    while (await exact.next()) resolutions.set(text(exact.key), copy(exact));
    const merged = await this.merge(context, { ...input, strategy: 'source-wins' });
    if (merged.kind !== 'merged') throw new Error('a strategy leaves no conflict');
    const result = new Map(this.content(merged.metaRangeId));
    const resolved = { source: 0, destination: 0, base: 0, delete: 0, object: 0 };
    const takes = Object.keys(resolved) as Take[];
    const conflicts = this.mergeDiff(context, input);
    let unresolved: Buffer | undefined;
    while (await conflicts.next()) {
      if (conflicts.type !== 'conflict') continue;
      const key = Buffer.from(conflicts.key);
      const { base, source, destination } = conflicts.sides;
      const given = resolutions.get(text(key));
      resolutions.delete(text(key));
      let take: Take | 'fail' | undefined;
      if (given === undefined) {
        take = input.patterns.find(({ kind, pattern }) =>
          kind === 'prefix'
            ? key.toString().startsWith(pattern)
            : compilePathGlob(pattern).test(key.toString()),
        )?.take;
      } else {
        take = takes[given.identity[0]!]!;
        const id = conflictIdOf(key, ...[base, source, destination].map((v) => v && decodeValue(v).identity));
        if (given.identity.length > 1 && !id.equals(given.identity.subarray(1)))
          return { kind: 'unfit', key };
      }
      if (take === 'fail' || (take === undefined && input.strategy === 'none')) {
        unresolved ??= key;
        continue;
      }
      if (take !== undefined) resolved[take] += 1;
      const side = take ?? (input.strategy === 'source-wins' ? 'source' : 'destination');
      const value = { base, source, destination, delete: undefined, object: given?.data }[side];
      if (value === undefined) result.delete(text(key));
      else result.set(text(key), { key, ...decodeValue(value) });
    }
    const [unused] = resolutions.keys();
    if (unused !== undefined) return { kind: 'unfit', key: Buffer.from(unused, 'latin1') };
    if (unresolved !== undefined) return { kind: 'conflict', key: unresolved };
    return { kind: 'merged', metaRangeId: this.#store(result), resolved };
  }

  merge(
    _context: CommittedContext,
    input: MergeInput,
    whileStoring?: (metaRangeId: string) => void,
  ): Promise<MergeResult> {
    const base = this.content(input.base);
    const source = this.content(input.source);
    const destination = this.content(input.destination);
    const result = new Map<string, TreeRecord>();
    for (const key of keysOf(base, source, destination)) {
      const [b, s, d] = [base.get(key), source.get(key), destination.get(key)];
      let winner: TreeRecord | undefined;
      if (same(s, d)) winner = s;
      else if (same(s, b)) winner = d;
      else if (same(d, b)) winner = s;
      else if (input.strategy === 'none') {
        return Promise.resolve({ kind: 'conflict', key: Buffer.from(key, 'latin1') });
      } else winner = input.strategy === 'source-wins' ? s : d;
      if (winner !== undefined) result.set(key, winner);
    }
    const metaRangeId = this.#store(result);
    whileStoring?.(metaRangeId);
    return Promise.resolve({ kind: 'merged', metaRangeId });
  }

  mergeImport(
    _context: CommittedContext,
    destinationId: string,
    importedId: string,
    scope: ImportScope,
  ): Promise<string> {
    const result = new Map<string, TreeRecord>();
    for (const [key, record] of this.content(destinationId)) {
      const gone =
        scope.prefixes.some((prefix) => key.startsWith(text(prefix))) ||
        scope.keys.some((exact) => text(exact) === key);
      if (!gone) result.set(key, record);
    }
    for (const [key, record] of this.content(importedId)) result.set(key, record);
    return Promise.resolve(this.#store(result));
  }

  async write(
    _context: CommittedContext,
    records: RecordIterator,
    dump?: DumpProperties,
  ): Promise<{ metaRangeId: string; count: number }> {
    const tree = new Map<string, TreeRecord>();
    while (await records.next()) tree.set(text(records.key), copy(records));
    return { metaRangeId: this.#store(tree, dump), count: tree.size };
  }

  outline(_context: CommittedContext, id: string): Promise<TreeOutline | undefined> {
    const tree = this.#trees.get(id);
    if (tree === undefined) return Promise.resolve(undefined);
    const records = sorted(tree);
    const [first, last] = [records[0], records.at(-1)];
    const ranges =
      first === undefined || last === undefined ? [] : [{ id, minKey: first.key, maxKey: last.key }];
    return Promise.resolve({ entity: this.#entities.get(id), ranges });
  }

  describe(_context: CommittedContext, id: string): Promise<TableDescription | undefined> {
    return Promise.resolve(this.#trees.has(id) ? { entity: this.#entities.get(id) } : undefined);
  }

  /** All of a tree is one range, of the same name. */
  ranges(_context: CommittedContext, id: string): Promise<readonly TreeRange[]> {
    const count = this.#trees.get(id)?.size ?? 0;
    const [minKey, maxKey] = [Buffer.alloc(0), Buffer.from([0xff])];
    return Promise.resolve(count === 0 ? [] : [{ id, minKey, maxKey, count }]);
  }

  visitRange(_context: CommittedContext, id: string, use: UseValue): Promise<void> {
    for (const { identity, data } of this.#trees.get(id)?.values() ?? []) {
      const value = encodeValue(identity, data);
      use(value, 0, value.length);
    }
    return Promise.resolve();
  }

  areStored(_context: CommittedContext, id: string): Promise<boolean> {
    return Promise.resolve(this.#trees.has(id));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #store(tree: Tree, dump?: DumpProperties): string {
    if (tree.size === 0 && dump === undefined) return emptyTreeId;
    const hash = createHash('sha256').update(JSON.stringify(dump ?? {}));
    for (const record of sorted(tree)) {
      for (const part of [record.key, record.identity, record.data])
        hash.update(`${part.length}:`).update(part);
    }
    const id = hash.digest('hex');
    this.#trees.set(id, tree);
    if (dump !== undefined) this.#entities.set(id, dump.entity);
    return id;
  }
}

// Latin1 text has the order of its bytes, unlike UTF-8 read as JavaScript strings.
function text(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1');
}

function keysOf(...trees: Tree[]): string[] {
  return [...new Set(trees.flatMap((tree) => [...tree.keys()]))].sort();
}

function sorted(tree: Tree): TreeRecord[] {
  return [...tree.keys()].sort().map((key) => tree.get(key)!);
}

function copy(record: TreeRecord): TreeRecord {
  return {
    key: Buffer.from(record.key),
    identity: Buffer.from(record.identity),
    data: Buffer.from(record.data),
  };
}

function same(left: TreeRecord | undefined, right: TreeRecord | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return left.identity.equals(right.identity);
}

class ArrayIterator<R extends TreeRecord = TreeRecord> implements RecordIterator {
  protected readonly records: readonly R[];
  protected at = -1;
  readonly #answersLater: () => boolean;

  constructor(records: readonly R[], answersLater: () => boolean, from?: Uint8Array) {
    this.records = records;
    this.#answersLater = answersLater;
    if (from !== undefined) this.seek(from);
  }

  get key(): Buffer {
    return this.records[this.at]!.key;
  }

  get identity(): Buffer {
    return this.records[this.at]!.identity;
  }

  get data(): Buffer {
    return this.records[this.at]!.data;
  }

  next(): boolean | Promise<boolean> {
    if (!this.#answersLater()) return this.#step();
    return Promise.resolve().then(() => this.#step());
  }

  seek(key: Uint8Array): void {
    const found = this.records.findIndex((record) => Buffer.compare(record.key, key) >= 0);
    this.at = (found < 0 ? this.records.length : found) - 1;
  }

  close(): void {
    this.at = this.records.length;
  }

  #step(): boolean {
    if (this.at < this.records.length) this.at += 1;
    return this.at < this.records.length;
  }
}

function stored(record: TreeRecord | undefined): Buffer | undefined {
  return record && encodeValue(record.identity, record.data);
}

class ArrayDiff extends ArrayIterator<DiffRecord> implements DiffIterator {
  get type(): DiffType {
    return this.records[this.at]!.type;
  }
}

class ArrayMergeDiff extends ArrayDiff implements MergeDiffIterator {
  get sides(): MergeSides {
    return this.records[this.at]!.sides!;
  }
}
