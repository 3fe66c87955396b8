import { Type } from 'typebox';
import { ErrorBody } from './common.ts';
import { dateTime, flag, integer, text } from './values.ts';

export const GarbageCollectionConfig = Type.Object(
  {
    grace_period: Type.Optional(integer),
  },
  { title: 'GarbageCollectionConfig' },
);

export const GarbageCollectionRule = Type.Object(
  {
    branch_id: text,
    retention_days: integer,
  },
  { title: 'GarbageCollectionRule' },
);

export const GarbageCollectionRules = Type.Object(
  {
    default_retention_days: integer,
    branches: Type.Array(GarbageCollectionRule),
  },
  { title: 'GarbageCollectionRules' },
);

export const GarbageCollectionPrepareResponse = Type.Object(
  {
    run_id: text,
    gc_commits_location: text,
    gc_addresses_location: text,
    gc_commits_presigned_url: Type.Optional(text),
  },
  { title: 'GarbageCollectionPrepareResponse' },
);

export const PrepareGarbageCollectionCommitsStatus = Type.Object(
  {
    task_id: text,
    completed: flag,
    update_time: dateTime,
    result: Type.Optional(GarbageCollectionPrepareResponse),
    error: Type.Optional(ErrorBody),
  },
  { title: 'PrepareGarbageCollectionCommitsStatus' },
);

export const PrepareGCUncommittedRequest = Type.Object(
  {
    continuation_token: Type.Optional(text),
  },
  { title: 'PrepareGCUncommittedRequest' },
);

export const PrepareGCUncommittedResponse = Type.Object(
  {
    run_id: text,
    gc_uncommitted_location: text,
    continuation_token: Type.Optional(text),
  },
  { title: 'PrepareGCUncommittedResponse' },
);
