import { Type } from 'typebox';
import { Pagination } from './common.ts';
import { int64, integer, nullableText, offFlag, text, textOf } from './values.ts';

export const ObjectUserMetadata = Type.Unsafe<Record<string, string>>({
  title: 'ObjectUserMetadata',
  type: 'object',
  additionalProperties: { type: 'string' },
});

export const ObjectStats = Type.Object(
  {
    path: text,
    path_type: textOf(['common_prefix', 'object']),
    physical_address: text,
    physical_address_expiry: Type.Optional(int64),
    checksum: text,
    size_bytes: Type.Optional(int64),
    mtime: int64,
    metadata: Type.Optional(ObjectUserMetadata),
    content_type: Type.Optional(text),
  },
  { title: 'ObjectStats' },
);

export const ObjectStatsList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(ObjectStats),
  },
  { title: 'ObjectStatsList' },
);

export const UpdateObjectUserMetadata = Type.Object(
  {
    set: ObjectUserMetadata,
  },
  { title: 'UpdateObjectUserMetadata' },
);

export const ObjectCopyCreation = Type.Object(
  {
    src_path: text,
    src_ref: Type.Optional(text),
    force: Type.Optional(offFlag),
    shallow: Type.Optional(offFlag),
  },
  { title: 'ObjectCopyCreation' },
);

export const ObjectStageCreation = Type.Object(
  {
    physical_address: text,
    checksum: text,
    size_bytes: int64,
    mtime: Type.Optional(int64),
    metadata: Type.Optional(ObjectUserMetadata),
    content_type: Type.Optional(text),
    force: Type.Optional(offFlag),
  },
  { title: 'ObjectStageCreation' },
);

export const UnderlyingObjectProperties = Type.Object(
  {
    storage_class: Type.Optional(nullableText),
  },
  { title: 'UnderlyingObjectProperties' },
);

export const PathList = Type.Object(
  {
    paths: Type.Array(text),
  },
  { title: 'PathList' },
);

export const ObjectError = Type.Object(
  {
    status_code: integer,
    message: text,
    path: Type.Optional(text),
  },
  { title: 'ObjectError' },
);

export const ObjectErrorList = Type.Object(
  {
    errors: Type.Array(ObjectError),
  },
  { title: 'ObjectErrorList' },
);

export const DiffObjectStat = Type.Object(
  {
    checksum: text,
    mtime: int64,
    content_type: text,
    metadata: Type.Optional(ObjectUserMetadata),
  },
  { title: 'DiffObjectStat' },
);

export const Diff = Type.Object(
  {
    type: textOf(['added', 'removed', 'changed', 'conflict', 'prefix_changed']),
    path: text,
    path_type: textOf(['common_prefix', 'object']),
    size_bytes: Type.Optional(int64),
    right: Type.Optional(DiffObjectStat),
  },
  { title: 'Diff' },
);

export const DiffList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(Diff),
  },
  { title: 'DiffList' },
);
