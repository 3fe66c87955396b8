import { Type } from 'typebox';
import { Commit, CommitCreation } from './commits.ts';
import { ErrorBody } from './common.ts';
import { dateTime, flag, int64, integer, offFlag, text, textOf } from './values.ts';

export const ImportLocation = Type.Object(
  {
    type: textOf(['common_prefix', 'object']),
    path: text,
    destination: text,
  },
  { title: 'ImportLocation' },
);

export const ImportCreation = Type.Object(
  {
    paths: Type.Array(ImportLocation),
    commit: CommitCreation,
    force: Type.Optional(offFlag),
  },
  { title: 'ImportCreation' },
);

export const ImportCreationResponse = Type.Object(
  {
    id: text,
  },
  { title: 'ImportCreationResponse' },
);

export const ImportStatus = Type.Object(
  {
    completed: flag,
    update_time: dateTime,
    ingested_objects: Type.Optional(int64),
    metarange_id: Type.Optional(text),
    commit: Type.Optional(Commit),
    error: Type.Optional(ErrorBody),
  },
  { title: 'ImportStatus' },
);

export const RangeMetadata = Type.Object(
  {
    id: text,
    min_key: text,
    max_key: text,
    count: integer,
    estimated_size: integer,
  },
  { title: 'RangeMetadata' },
);

export const MetaRangeCreation = Type.Object(
  {
    ranges: Type.Array(RangeMetadata, { minItems: 1 }),
  },
  { title: 'MetaRangeCreation' },
);

export const MetaRangeCreationResponse = Type.Object(
  {
    id: Type.Optional(text),
  },
  { title: 'MetaRangeCreationResponse' },
);
