import { Type } from 'typebox';
import { Commit } from './commits.ts';
import { Pagination } from './common.ts';
import { dateTime, flag, int64, offFlag, stringMap, text, treeId } from './values.ts';

export const RepositorySummary = Type.Object(
  {
    description: Type.Optional(text),
    /** Of the default branch. */
    last_commit: Type.Optional(Commit),
  },
  { title: 'RepositorySummary' },
);

export const Repository = Type.Object(
  {
    id: text,
    creation_date: int64,
    default_branch: text,
    storage_id: Type.Optional(text),
    storage_namespace: text,
    read_only: Type.Optional(flag),
    /** With `summary=true`; what the caller may not read is left out. */
    summary: Type.Optional(RepositorySummary),
  },
  { title: 'Repository' },
);

export const RepositoryMetadata = Type.Unsafe<Record<string, string>>({
  title: 'RepositoryMetadata',
  type: 'object',
  additionalProperties: { type: 'string' },
});

export const RepositoryMetadataSet = Type.Object(
  {
    metadata: stringMap,
  },
  { title: 'RepositoryMetadataSet' },
);

export const RepositoryMetadataKeys = Type.Object(
  {
    keys: Type.Array(text),
  },
  { title: 'RepositoryMetadataKeys' },
);

export const RepositoryList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(Repository),
    /** With `summary=true`: whether the caller may create repositories of some name. */
    may_create: Type.Optional(flag),
  },
  { title: 'RepositoryList' },
);

export const DeletedRepository = Type.Object(
  {
    id: text,
    instance: text,
    storage_namespace: text,
    storage_id: text,
    default_branch: text,
    deleted_at: dateTime,
    deleted_by: text,
    restorable_until: dateTime,
    delete_data: flag,
    displaced_by: Type.Optional(text),
  },
  { title: 'DeletedRepository' },
);

export const DeletedRepositoryList = Type.Object(
  { pagination: Pagination, results: Type.Array(DeletedRepository) },
  { title: 'DeletedRepositoryList' },
);

export const RepositoryCreation = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{2,62}$' }),
    storage_id: Type.Optional(text),
    storage_namespace: Type.String({ pattern: '^(s3|gs|https?|mem|local|transient)://.*$' }),
    default_branch: Type.Optional(text),
    sample_data: Type.Optional(offFlag),
    read_only: Type.Optional(offFlag),
  },
  { title: 'RepositoryCreation' },
);

export const RefsDump = Type.Object(
  {
    commits_meta_range_id: text,
    tags_meta_range_id: text,
    branches_meta_range_id: text,
  },
  { title: 'RefsDump' },
);

export const RefsRestore = Type.Object(
  {
    commits_meta_range_id: treeId,
    tags_meta_range_id: treeId,
    branches_meta_range_id: treeId,
    force: Type.Optional(offFlag),
  },
  { title: 'RefsRestore' },
);

export const RepositoryDumpStatus = Type.Object(
  {
    id: text,
    done: flag,
    update_time: dateTime,
    error: Type.Optional(text),
    refs: Type.Optional(RefsDump),
  },
  { title: 'RepositoryDumpStatus' },
);

export const RepositoryRestoreStatus = Type.Object(
  {
    id: text,
    done: flag,
    update_time: dateTime,
    error: Type.Optional(text),
  },
  { title: 'RepositoryRestoreStatus' },
);

export const BranchProtectionRule = Type.Object(
  {
    pattern: Type.String({ minLength: 1 }),
  },
  { title: 'BranchProtectionRule' },
);
