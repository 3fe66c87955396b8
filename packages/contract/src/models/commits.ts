import { Type } from 'typebox';
import { Pagination } from './common.ts';
import { changeSteering } from './merges.ts';
import { flag, hashId, int64, integer, offFlag, stringMap, text, treeId } from './values.ts';

export const Commit = Type.Object(
  {
    id: text,
    parents: Type.Array(text),
    committer: text,
    message: text,
    creation_date: int64,
    meta_range_id: text,
    metadata: Type.Optional(stringMap),
    generation: Type.Optional(int64),
    version: Type.Optional(Type.Integer({ minimum: 0, maximum: 1 })),
  },
  { title: 'Commit' },
);

export const CommitList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(Commit),
  },
  { title: 'CommitList' },
);

export const LastCommitList = Type.Object(
  {
    pagination: Pagination,
    /** What no commit was found for in time is absent. */
    results: Type.Array(Type.Object({ path: text, commit_id: text })),
    commits: Type.Array(Commit),
    /** Whether all history was looked at: what is absent was then never committed. */
    complete: flag,
  },
  { title: 'LastCommitList' },
);

export const CommitCreation = Type.Object(
  {
    message: text,
    metadata: Type.Optional(stringMap),
    date: Type.Optional(int64),
    allow_empty: Type.Optional(offFlag),
    force: Type.Optional(offFlag),
  },
  { title: 'CommitCreation' },
);

export const CommitRecordCreation = Type.Object(
  {
    commit_id: text,
    version: Type.Integer({ minimum: 0, maximum: 1 }),
    committer: text,
    message: text,
    metarange_id: Type.String({
      ...treeId,
      description:
        'A tree of objects in this repository. Who may not read every object of every repository needs read permission on all objects of each repository whose data it refers to, this one included.',
    }),
    creation_date: int64,
    parents: Type.Array(hashId),
    metadata: Type.Optional(stringMap),
    generation: int64,
    force: Type.Optional(offFlag),
  },
  { title: 'CommitRecordCreation' },
);

export const CommitOverrides = Type.Object(
  {
    message: Type.Optional(text),
    metadata: Type.Optional(stringMap),
  },
  { title: 'CommitOverrides' },
);

export const RevertCreation = Type.Object(
  {
    ref: text,
    commit_overrides: Type.Optional(CommitOverrides),
    parent_number: integer,
    force: Type.Optional(offFlag),
    allow_empty: Type.Optional(offFlag),
    ...changeSteering,
  },
  { title: 'RevertCreation' },
);

export const CherryPickCreation = Type.Object(
  {
    ref: text,
    parent_number: Type.Optional(integer),
    commit_overrides: Type.Optional(CommitOverrides),
    force: Type.Optional(offFlag),
    ...changeSteering,
  },
  { title: 'CherryPickCreation' },
);
