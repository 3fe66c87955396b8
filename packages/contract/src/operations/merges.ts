import { Type } from 'typebox';
import { errors, json, optionalBody } from '../answers.ts';
import { ConflictList, Merge, MergePreview, MovedError, ResolutionObject } from '../models/merges.ts';
import { binary, integer, text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { after, amount, force, objectPath, page } from '../parameters.ts';
import { and, deferred, objectArn, one, repositoryArn } from '../requirement-template.ts';

const conflictsOfCommit = { ...page, ref: text, parent_number: Type.Optional(integer) };
const conflictList = {
  200: json(ConflictList),
  ...errors(400, 401, 404, 429, 'default'),
};

export const mergesOperations = {
  listMergeConflicts: operation({
    operationId: 'listMergeConflicts',
    method: 'GET',
    path: '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}/conflicts',
    tag: 'refs',
    summary: 'List what is in conflict between a ref and a branch; as application/x-ndjson all of it',
    requires: one('fs:ListObjects', repositoryArn),
    query: page,
    responses: conflictList,
  }),
  previewMerge: operation({
    operationId: 'previewMerge',
    method: 'POST',
    idempotent: true,
    path: '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}/preview',
    tag: 'refs',
    summary: 'Say what a merge would do',
    requires: one('fs:ListObjects', repositoryArn),
    query: { after },
    body: optionalBody(Merge),
    responses: {
      200: json(MergePreview),
      412: json(MovedError),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  uploadScratchObject: operation({
    operationId: 'uploadScratchObject',
    method: 'POST',
    idempotent: true,
    path: '/repositories/{repository}/branches/{branch}/objects/scratch',
    tag: 'objects',
    summary: 'Write the data of a resolution; it becomes an object when a merge into the branch takes it',
    requires: one('fs:WriteObject', objectArn('query.path')),
    query: { path: objectPath, force },
    body: {
      required: false,
      content: {
        'multipart/form-data': Type.Object({ content: Type.Optional(binary) }),
        'application/octet-stream': binary,
      },
    },
    responses: {
      201: json(ResolutionObject),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  listCherryPickConflicts: operation({
    operationId: 'listCherryPickConflicts',
    method: 'GET',
    path: '/repositories/{repository}/branches/{branch}/cherry-pick/conflicts',
    tag: 'branches',
    summary: 'List what is in conflict between the changes of a commit and a branch',
    requires: one('fs:ListObjects', repositoryArn),
    query: conflictsOfCommit,
    responses: conflictList,
  }),
  listRevertConflicts: operation({
    operationId: 'listRevertConflicts',
    method: 'GET',
    path: '/repositories/{repository}/branches/{branch}/revert/conflicts',
    tag: 'branches',
    summary: 'List what is in conflict between undoing a commit and a branch',
    requires: one('fs:ListObjects', repositoryArn),
    query: conflictsOfCommit,
    responses: conflictList,
  }),
  listCommitResolutions: operation({
    operationId: 'listCommitResolutions',
    method: 'GET',
    path: '/repositories/{repository}/commits/{commitId}/resolutions',
    tag: 'commits',
    summary: 'List the conflicts that a commit settled by resolutions, with what it took',
    requires: and(one('fs:ReadCommit', repositoryArn), one('fs:ListObjects', repositoryArn)),
    query: { after, amount },
    responses: conflictList,
  }),
} as const;

/** What resolutions require beside the merge itself. */
export const resolutionRights = [
  deferred(
    'only for resolutions that take an object or the base, or append',
    one('fs:WriteObject', objectArn('item.path')),
  ),
  deferred('only for resolutions that delete', one('fs:DeleteObject', objectArn('item.path'))),
];
