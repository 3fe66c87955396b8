import { Type } from 'typebox';
import { Pagination } from './common.ts';
import { hashId, int64, integer, offFlag, stringMap, text, textOf } from './values.ts';

/** Data written for a resolution, as its upload answers it. */
export const ResolutionObject = Type.Object(
  {
    physical_address: text,
    checksum: text,
    size_bytes: int64,
    content_type: Type.Optional(text),
    user_metadata: Type.Optional(stringMap),
    mtime: Type.Optional(int64),
  },
  { title: 'ResolutionObject' },
);

export const Resolution = Type.Object(
  {
    path: Type.Optional(text),
    prefix: Type.Optional(text),
    glob: Type.Optional(
      Type.String({
        description: '`*` and `?` take no `/`, `**` is any run, `**/` any number of whole folders.',
      }),
    ),
    take: textOf(['source', 'destination', 'base', 'delete', 'object', 'append', 'fail']),
    conflict_id: Type.Optional(text),
    object: Type.Optional(ResolutionObject),
  },
  {
    title: 'Resolution',
    description:
      'Settles the conflict of one path, or those of all paths with a prefix or that match a glob; the one of the path counts first, then the first that matches. Exactly one of path, prefix and glob is given; take object, append and conflict_id only with path, take fail only with prefix or glob. Take append, of a merge, is for Iceberg tables that both sides only appended to: the rows of the source come after those of the destination.',
  },
);

const resolutions = Type.Optional(Type.Array(Resolution, { maxItems: 20_000 }));
const expectedSource = Type.Optional(hashId);
const expectedDestination = Type.Optional(hashId);

/** How conflicts are settled and what must not have moved, for one side that cannot move. */
export const changeSteering = {
  expected_destination: expectedDestination,
  strategy: Type.Optional(text),
  resolutions,
};

export const mergeSteering = {
  expected_source: expectedSource,
  expected_destination: expectedDestination,
  resolutions,
};

export const Merge = Type.Object(
  {
    message: Type.Optional(text),
    metadata: Type.Optional(stringMap),
    strategy: Type.Optional(text),
    force: Type.Optional(offFlag),
    allow_empty: Type.Optional(offFlag),
    squash_merge: Type.Optional(offFlag),
    ...mergeSteering,
  },
  { title: 'Merge' },
);

export const PullMerge = Type.Object(
  {
    message: Type.Optional(text),
    metadata: Type.Optional(stringMap),
    strategy: Type.Optional(text),
    squash_merge: Type.Optional(offFlag),
    ...mergeSteering,
  },
  { title: 'PullMerge' },
);

export const TakeCounts = Type.Object(
  {
    source: Type.Optional(integer),
    destination: Type.Optional(integer),
    base: Type.Optional(integer),
    delete: Type.Optional(integer),
    object: Type.Optional(integer),
  },
  { title: 'TakeCounts' },
);

export const MergeResult = Type.Object(
  {
    reference: text,
    resolved: Type.Optional(TakeCounts),
  },
  { title: 'MergeResult' },
);

export const ConflictEntry = Type.Object(
  {
    checksum: text,
    size_bytes: int64,
    mtime: int64,
    content_type: text,
    metadata: Type.Optional(stringMap),
  },
  { title: 'ConflictEntry' },
);

export const Conflict = Type.Object(
  {
    path: text,
    kind: textOf(['both_added', 'both_changed', 'source_removed', 'destination_removed']),
    conflict_id: Type.String({
      description: 'Another one as soon as one of the three versions is another.',
    }),
    table: Type.Optional(
      Type.String({
        description: 'The Iceberg table, with its namespace, whose newest metadata is in conflict.',
      }),
    ),
    base: Type.Optional(ConflictEntry),
    source: Type.Optional(ConflictEntry),
    destination: Type.Optional(ConflictEntry),
    taken: Type.Optional(textOf(['source', 'destination', 'base', 'delete', 'object'])),
  },
  { title: 'Conflict' },
);

const commitIds = {
  source_commit_id: text,
  destination_commit_id: text,
  base_commit_id: text,
};

export const ConflictList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(Conflict),
    ...commitIds,
  },
  { title: 'ConflictList' },
);

const totals = Type.Object({ objects: int64, bytes: int64 }, { title: 'ObjectTotals' });

export const ObjectTotals = totals;

export const ConflictCounts = Type.Object(
  {
    total: int64,
    unresolved: int64,
    source: int64,
    destination: int64,
    base: int64,
    delete: int64,
    object: int64,
  },
  { title: 'ConflictCounts' },
);

export const MergePreview = Type.Object(
  {
    ...commitIds,
    outcome: textOf(['clean', 'conflicts', 'no_changes', 'dirty']),
    added: totals,
    changed: totals,
    removed: totals,
    conflicts: ConflictCounts,
    results: Type.Array(Conflict),
    pagination: Pagination,
  },
  {
    title: 'MergePreview',
    description:
      'The counts cover the paths that were looked at: behind `after`, up to `next_offset`. Add up those of all pages.',
  },
);

/** The answer to a merge that a conflict stopped. The fields beside `reference` come when the request used pins or resolutions. */
export const MergeConflicts = Type.Object(
  {
    reference: text,
    message: Type.Optional(text),
    source_commit_id: Type.Optional(text),
    destination_commit_id: Type.Optional(text),
    base_commit_id: Type.Optional(text),
    unresolved: Type.Optional(int64),
    results: Type.Optional(Type.Array(Conflict)),
    has_more: Type.Optional(Type.Boolean()),
  },
  { title: 'MergeConflicts' },
);

export const MovedRef = Type.Object({ expected: text, actual: text }, { title: 'MovedRef' });

export const Moved = Type.Object(
  {
    source: Type.Optional(MovedRef),
    destination: Type.Optional(MovedRef),
    paths: Type.Optional(Type.Array(text)),
  },
  { title: 'Moved' },
);

/** `moved` is absent when a hook refused. */
export const MovedError = Type.Object(
  {
    message: text,
    moved: Type.Optional(Moved),
  },
  { title: 'MovedError' },
);
