import { Type } from 'typebox';
import { Commit } from './commits.ts';
import { Pagination } from './common.ts';
import { dateTime, flag, offFlag, stringMap, text, textOf } from './values.ts';

export const loggedRefType = textOf(['branch', 'tag']);

export const RefMove = Type.Object(
  {
    id: text,
    time: dateTime,
    kind: text,
    ref_type: loggedRefType,
    ref_id: text,
    old_commit_id: Type.Optional(text),
    new_commit_id: Type.Optional(text),
    user: text,
    source: Type.Optional(text),
    hidden: Type.Optional(flag),
    request_id: Type.Optional(text),
    restorable: flag,
  },
  { title: 'RefMove' },
);

export const RefMoveList = Type.Object(
  { pagination: Pagination, results: Type.Array(RefMove) },
  { title: 'RefMoveList' },
);

export const DeletedRef = Type.Object(
  {
    type: loggedRefType,
    id: text,
    commit_id: text,
    deleted_at: dateTime,
    deleted_by: text,
    restorable_until: dateTime,
    move_id: text,
    hidden: flag,
  },
  { title: 'DeletedRef' },
);

export const DeletedRefList = Type.Object(
  { pagination: Pagination, results: Type.Array(DeletedRef) },
  { title: 'DeletedRefList' },
);

export const ResolvedRef = Type.Object(
  {
    kind: textOf(['branch', 'tag', 'commit']),
    commit_id: text,
    commit: Commit,
    branch: Type.Optional(text),
    move_id: Type.Optional(text),
    time: Type.Optional(dateTime),
    /** With `rights=true`: a rule refuses uploads to this branch and commits on it. */
    protected: Type.Optional(flag),
    /** With `rights=true`: the actions that the caller may take here, on objects below `path`. */
    rights: Type.Optional(Type.Array(text)),
  },
  { title: 'ResolvedRef' },
);

export const UndeleteRequest = Type.Object(
  {
    type: loggedRefType,
    id: text,
    as: Type.Optional(text),
    move_id: Type.Optional(text),
    force: Type.Optional(offFlag),
  },
  { title: 'UndeleteRequest' },
);

export const UndeletedRef = Type.Object(
  { type: loggedRefType, id: text, commit_id: text, move_id: text },
  { title: 'UndeletedRef' },
);

export const RollbackRequest = Type.Object(
  {
    to: text,
    mode: Type.Optional(textOf(['commit', 'reset'], { default: 'commit' })),
    message: Type.Optional(text),
    metadata: Type.Optional(stringMap),
    force: Type.Optional(offFlag),
  },
  { title: 'RollbackRequest' },
);

export const RollbackResult = Type.Object(
  { commit_id: text, previous_commit_id: text, move_id: text },
  { title: 'RollbackResult' },
);

export const ReflogSettings = Type.Object(
  {
    /** Null: the setting of the server holds. */
    retention_days: Type.Optional(
      Type.Unsafe<number | null>({ type: 'integer', nullable: true, minimum: 0, maximum: 3650 }),
    ),
  },
  { title: 'ReflogSettings' },
);
