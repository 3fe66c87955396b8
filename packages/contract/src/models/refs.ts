import { Type } from 'typebox';
import { Pagination } from './common.ts';
import { integer, offFlag, text, textOf } from './values.ts';

export const Ref = Type.Object(
  {
    id: text,
    commit_id: text,
  },
  { title: 'Ref' },
);

export const RefList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(Ref),
  },
  { title: 'RefList' },
);

export const BranchCreation = Type.Object(
  {
    name: text,
    source: text,
    force: Type.Optional(offFlag),
    hidden: Type.Optional(offFlag),
  },
  { title: 'BranchCreation' },
);

export const TagCreation = Type.Object(
  {
    id: text,
    ref: text,
    force: Type.Optional(offFlag),
  },
  { title: 'TagCreation' },
);

export const ResetCreation = Type.Object(
  {
    type: textOf(['object', 'common_prefix', 'reset']),
    path: Type.Optional(text),
    force: Type.Optional(offFlag),
  },
  { title: 'ResetCreation' },
);

export const FindMergeBaseResult = Type.Object(
  {
    source_commit_id: text,
    destination_commit_id: text,
    base_commit_id: text,
  },
  { title: 'FindMergeBaseResult' },
);

export const Divergence = Type.Object(
  {
    /** Commits that only the left ref has. */
    left: integer,
    right: integer,
  },
  { title: 'Divergence' },
);
