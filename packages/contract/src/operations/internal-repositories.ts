import { Type } from 'typebox';
import { body, bytes, empty, errors, json } from '../answers.ts';
import { CommitRecordCreation } from '../models/commits.ts';
import { StorageURI } from '../models/common.ts';
import { ObjectStageCreation, ObjectStats } from '../models/objects.ts';
import {
  BranchProtectionRule,
  RefsDump,
  RefsRestore,
  RepositoryMetadataKeys,
  RepositoryMetadataSet,
} from '../models/repositories.ts';
import { hashId, text, textOf } from '../models/values.ts';
import { operation } from '../operation.ts';
import { objectPath, presign } from '../parameters.ts';
import { and, deferred, namespaceArn, objectArn, one, repositoryArn, soft } from '../permission.ts';

export const internalRepositoriesOperations = {
  setRepositoryMetadata: operation({
    operationId: 'setRepositoryMetadata',
    method: 'POST',
    idempotent: true,
    path: '/repositories/{repository}/metadata',
    tag: 'internal',
    summary: "Add or replace keys of a repository's metadata",
    internal: true,
    permission: one('fs:UpdateRepository', repositoryArn),
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
    permission: one('fs:UpdateRepository', repositoryArn),
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
    permission: and(
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
    permission: and(
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
  CreateCommitRecord: operation({
    operationId: 'CreateCommitRecord',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/commits',
    tag: 'internal',
    summary: 'Store a commit record with a known id',
    internal: true,
    permission: one('fs:CreateCommit', repositoryArn),
    body: body(CommitRecordCreation),
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  uploadObjectPreflight: operation({
    operationId: 'uploadObjectPreflight',
    method: 'GET',
    path: '/repositories/{repository}/branches/{branch}/objects/stage_allowed',
    tag: 'internal',
    summary: 'Check whether the caller may write an object',
    internal: true,
    permission: one('fs:WriteObject', objectArn('query.path')),
    query: { path: objectPath },
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  stageObject: operation({
    operationId: 'stageObject',
    method: 'PUT',
    idempotent: true,
    path: '/repositories/{repository}/branches/{branch}/objects',
    tag: 'internal',
    summary: 'Stage an object that already exists in the object store',
    deprecated: true,
    internal: true,
    permission: and(
      one('fs:WriteObject', objectArn('query.path')),
      deferred(
        'applies only to an address outside the data of the repository',
        soft('fs:ImportFromStorage', namespaceArn('body.physical_address')),
      ),
    ),
    query: { path: objectPath },
    body: body(ObjectStageCreation),
    responses: {
      201: json(ObjectStats),
      ...errors(400, 401, 403, 404, 429, 'default'),
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
    permission: one('fs:WriteObject', objectArn('path.branch')),
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
    permission: and(one('fs:ListObjects', repositoryArn), one('fs:ReadRepository', repositoryArn)),
    params: { type: textOf(['range', 'meta_range']), object_id: hashId },
    query: { presign },
    responses: {
      200: bytes(['Content-Length']),
      302: empty(['Location']),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  createBranchProtectionRulePreflight: operation({
    operationId: 'createBranchProtectionRulePreflight',
    method: 'GET',
    path: '/repositories/{repository}/branch_protection/set_allowed',
    tag: 'internal',
    summary: 'Check whether the caller may protect branches',
    internal: true,
    permission: one('branches:SetBranchProtectionRules', repositoryArn),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 409, 429, 'default'),
    },
  }),
  internalGetBranchProtectionRules: operation({
    operationId: 'internalGetBranchProtectionRules',
    method: 'GET',
    path: '/repositories/{repository}/branch_protection',
    tag: 'internal',
    summary: 'List the protected branch patterns',
    deprecated: true,
    internal: true,
    permission: one('branches:GetBranchProtectionRules', repositoryArn),
    responses: {
      200: json(Type.Array(BranchProtectionRule)),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  internalCreateBranchProtectionRule: operation({
    operationId: 'internalCreateBranchProtectionRule',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/branch_protection',
    tag: 'internal',
    summary: 'Protect the branches of one more pattern',
    deprecated: true,
    internal: true,
    permission: one('branches:SetBranchProtectionRules', repositoryArn),
    body: body(BranchProtectionRule),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  internalDeleteBranchProtectionRule: operation({
    operationId: 'internalDeleteBranchProtectionRule',
    method: 'DELETE',
    idempotent: true,
    path: '/repositories/{repository}/branch_protection',
    tag: 'internal',
    summary: 'Stop protecting the branches of one pattern',
    deprecated: true,
    internal: true,
    permission: one('branches:SetBranchProtectionRules', repositoryArn),
    body: body(
      Type.Object({
        pattern: text,
      }),
    ),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
