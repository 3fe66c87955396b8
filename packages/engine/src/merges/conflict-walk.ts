import { decodeEntry, decodeValue, prefixSuccessor, startsWithBytes } from '@svc/encoding';
import { conflictIdOf } from '../committed/format/conflict-id.ts';
import type { MergeDiffIterator, MergeSides } from '../committed/tree.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { pageSize } from '../context/page.ts';
import type {
  Conflict,
  ConflictEntry,
  ConflictKind,
  ConflictPage,
  ConflictQuery,
  MergeBase,
} from '../face/merges.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** How long a page is looked for. */
export const lookingMs = 2000;
/** Changes between two looks at the clock. */
const changesPerLook = 64;

/** Three trees that meet, and the commits they belong to; a missing parent has the id `""`. */
export interface MeetingTrees extends MergeBase {
  readonly base: string;
  readonly source: string;
  readonly destination: string;
}

export interface WalkSpan {
  readonly prefix?: string | undefined;
  readonly after?: string | undefined;
  /** Milliseconds; the walk ends early after them. */
  readonly forMs?: number | undefined;
}

export interface WalkEnd {
  readonly hasMore: boolean;
  /** The last path looked at, when there is more. */
  readonly nextOffset: string;
}

/** Shows every change that a merge would make until `visit` answers false: that change was not looked at. */
export async function walkMerge(
  context: EngineContext,
  scope: RepositoryScope,
  trees: MeetingTrees,
  span: WalkSpan,
  visit: (change: MergeDiffIterator) => boolean | Promise<boolean>,
): Promise<WalkEnd> {
  const prefix = Buffer.from(span.prefix ?? '');
  const after = Buffer.from(span.after ?? '');
  const behind = after.length === 0 ? after : Buffer.concat([after, Buffer.of(0)]);
  const start = Buffer.compare(behind, prefix) > 0 ? behind : prefix;
  const end = prefixSuccessor(prefix);
  if (end !== undefined && prefix.length > 0 && Buffer.compare(start, end) >= 0)
    return { hasMore: false, nextOffset: '' };
  const until = performance.now() + (span.forMs ?? Number.POSITIVE_INFINITY);
  const changes = context.trees.mergeDiff(scope.committed, trees, start);
  let last = '';
  let looked = 0;
  try {
    for (;;) {
      const more = changes.next();
      if (!(typeof more === 'boolean' ? more : await more)) break;
      if (!startsWithBytes(changes.key, prefix)) break;
      const visited = visit(changes);
      if (!(typeof visited === 'boolean' ? visited : await visited))
        return { hasMore: true, nextOffset: last };
      last = changes.key.toString();
      looked += 1;
      if (looked % changesPerLook === 0 && performance.now() > until)
        return { hasMore: true, nextOffset: last };
    }
    return { hasMore: false, nextOffset: '' };
  } finally {
    changes.close();
  }
}

/** One page of what is in conflict. */
export async function listConflicts(
  context: EngineContext,
  scope: RepositoryScope,
  trees: MeetingTrees,
  query: ConflictQuery,
  complete: (conflict: Conflict, key: Buffer, sides: MergeSides) => Conflict | Promise<Conflict> = (
    conflict,
  ) => conflict,
): Promise<ConflictPage> {
  const size = pageSize(query.amount);
  const items: Conflict[] = [];
  const end = await walkMerge(context, scope, trees, { ...query, forMs: lookingMs }, async (change) => {
    if (change.type !== 'conflict') return true;
    if (items.length === size) return false;
    items.push(await complete(conflictAt(change), change.key, change.sides));
    return true;
  });
  const { sourceCommitId, destinationCommitId, baseCommitId } = trees;
  return { items, ...end, sourceCommitId, destinationCommitId, baseCommitId };
}

/** Everything in conflict, page by page, so that a slow reader holds no table. */
export async function* everyConflict(
  context: EngineContext,
  scope: RepositoryScope,
  trees: MeetingTrees,
  query: ConflictQuery,
): AsyncGenerator<Conflict> {
  let { after } = query;
  for (;;) {
    const page = await listConflicts(context, scope, trees, { prefix: query.prefix, after, amount: 1000 });
    yield* page.items;
    if (!page.hasMore) return;
    after = page.nextOffset;
  }
}

export function conflictAt(change: MergeDiffIterator): Conflict {
  const { sides } = change;
  return {
    path: change.key.toString(),
    kind: kindOf(sides),
    conflictId: conflictIdAt(change.key, sides).toString('hex'),
    base: entryOf(sides.base),
    source: entryOf(sides.source),
    destination: entryOf(sides.destination),
  };
}

export function conflictIdAt(key: Buffer, { base, source, destination }: MergeSides): Buffer {
  return conflictIdOf(key, identityOf(base), identityOf(source), identityOf(destination));
}

export function identityOf(value: Buffer | undefined): Buffer | undefined {
  return value === undefined ? undefined : decodeValue(value).identity;
}

function kindOf({ base, source, destination }: MergeSides): ConflictKind {
  if (base === undefined) return 'both_added';
  if (source === undefined) return 'source_removed';
  return destination === undefined ? 'destination_removed' : 'both_changed';
}

function entryOf(value: Buffer | undefined): ConflictEntry | undefined {
  if (value === undefined) return undefined;
  const { etag, size, lastModified, contentType, metadata } = decodeEntry(decodeValue(value).data);
  return { etag, size, mtime: lastModified, contentType, metadata };
}
