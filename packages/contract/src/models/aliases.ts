import { Type } from 'typebox';
import { Pagination } from './common.ts';
import { dateTime, flag, int64, offFlag, text } from './values.ts';

const target = {
  repository: text,
  ref: text,
  prefix: Type.Optional(text),
  pin: Type.Optional(offFlag),
  read_only: Type.Optional(offFlag),
  description: Type.Optional(text),
};

/** What a bucket name is to mean. */
export const BucketBinding = Type.Object(target, { title: 'BucketBinding' });

export const AliasCreation = Type.Object({ name: text, ...target }, { title: 'AliasCreation' });

export const Alias = Type.Object(
  {
    name: text,
    repository: text,
    ref: text,
    commit_id: Type.Optional(text),
    pinned: flag,
    prefix: text,
    read_only: flag,
    writable: flag,
    dangling: flag,
    description: text,
    created_at: dateTime,
    created_by: text,
    updated_at: dateTime,
    updated_by: text,
    generation: int64,
  },
  { title: 'Alias' },
);

export const AliasList = Type.Object(
  { pagination: Pagination, results: Type.Array(Alias) },
  { title: 'AliasList' },
);

export const BoundPlace = Type.Object(
  { repository: text, ref: text, commit_id: Type.Optional(text), prefix: text },
  { title: 'BoundPlace' },
);

export const AliasMove = Type.Object(
  {
    id: text,
    time: dateTime,
    kind: text,
    user: text,
    old: Type.Optional(BoundPlace),
    new: Type.Optional(BoundPlace),
  },
  { title: 'AliasMove' },
);

export const AliasMoveList = Type.Object(
  { pagination: Pagination, results: Type.Array(AliasMove) },
  { title: 'AliasMoveList' },
);

export const AliasRollback = Type.Object({ move_id: Type.Optional(text) }, { title: 'AliasRollback' });

export const CredentialsViewCreation = Type.Object(
  { bucket: Type.Optional(text), ...target },
  { title: 'CredentialsViewCreation' },
);

export const CredentialsCreation = Type.Object(
  { view: Type.Optional(CredentialsViewCreation) },
  { title: 'CredentialsCreation' },
);
