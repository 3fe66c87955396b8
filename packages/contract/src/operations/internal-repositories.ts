import { Type } from 'typebox';
import { body, bytes, empty, errors, json } from '../answers.ts';
import { StorageURI } from '../models/common.ts';
import {
  RefsDump,
  RefsRestore,
  RepositoryMetadataKeys,
  RepositoryMetadataSet,
} from '../models/repositories.ts';
import { hashId, text, textOf } from '../models/values.ts';
import { operation } from '../operation.ts';
import { presign } from '../parameters.ts';
import { and, objectArn, one, repositoryArn } from '../requirement-template.ts';

export const internalRepositoriesOperations = {
  setRepositoryMetadata: operation({
    operationId: 'setRepositoryMetadata',
    method: 'POST',
    idempotent: true,
    path: '/repositories/{repository}/metadata',
    tag: 'internal',
    summary: "Add or replace keys of a repository's metadata",
    internal: true,
    requires: one('fs:UpdateRepository', repositoryArn),
    body: body(RepositoryMetadataSet),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  deleteRepositoryMetadata: operation({
    operationId: 'deleteRepositoryMetadata',
    method: 'DELETE',
    idempotent: true,
    path: '/repositories/{repository}/metadata',
    tag: 'internal',
    summary: "Remove keys of a repository's metadata",
    internal: true,
    requires: one('fs:UpdateRepository', repositoryArn),
    body: body(RepositoryMetadataKeys),
    responses: {
      204: empty(),
      ...errors(400, 401, 429, 'default'),
    },
  }),
  dumpRefs: operation({
    operationId: 'dumpRefs',
    method: 'PUT',
    idempotent: true,
    path: '/repositories/{repository}/refs/dump',
    tag: 'internal',
    summary: "Write the repository's commits, branches and tags to its storage",
    internal: true,
    requires: and(
      one('fs:ListTags', repositoryArn),
      one('fs:ListBranches', repositoryArn),
      one('fs:ListCommits', repositoryArn),
    ),
    responses: {
      201: json(RefsDump),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  restoreRefs: operation({
    operationId: 'restoreRefs',
    method: 'PUT',
    idempotent: false,
    path: '/repositories/{repository}/refs/restore',
    tag: 'internal',
    summary: 'Restore commits, branches and tags into a bare repository',
    internal: true,
    requires: and(
      one('fs:CreateTag', repositoryArn),
      one('fs:CreateBranch', repositoryArn),
      one('fs:CreateCommit', repositoryArn),
    ),
    body: body(RefsRestore),
    responses: {
      200: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  createSymlinkFile: operation({
    operationId: 'createSymlinkFile',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/refs/{branch}/symlink',
    tag: 'internal',
    summary: 'Write symlink files that list the physical addresses of a branch',
    internal: true,
    requires: one('fs:WriteObject', objectArn('path.branch')),
    query: { location: Type.Optional(text) },
    responses: {
      201: json(StorageURI),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  getMetadataObject: operation({
    operationId: 'getMetadataObject',
    method: 'GET',
    path: '/repositories/{repository}/metadata/object/{type}/{object_id}',
    tag: 'internal',
    summary: 'Read a range or metarange file',
    internal: true,
    requires: and(one('fs:ListObjects', repositoryArn), one('fs:ReadRepository', repositoryArn)),
    params: { type: textOf(['range', 'meta_range']), object_id: hashId },
    query: { presign },
    responses: {
      200: bytes(['Content-Length']),
      302: empty(['Location']),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
