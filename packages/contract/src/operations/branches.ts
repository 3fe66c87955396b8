import { Type } from 'typebox';
import { body, empty, errors, json } from '../answers.ts';
import { CherryPickCreation, Commit, RevertCreation } from '../models/commits.ts';
import { DiffList } from '../models/objects.ts';
import { BranchCreation, Ref, RefList, ResetCreation } from '../models/refs.ts';
import { offFlag, text } from '../models/values.ts';
import { MovedError } from '../models/merges.ts';
import { operation } from '../operation.ts';
import { resolutionRights } from './merges.ts';
import { delimiter, force, page, search } from '../parameters.ts';
import { and, branchArn, one, repositoryArn } from '../requirement-template.ts';

export const branchesOperations = {
  listBranches: operation({
    operationId: 'listBranches',
    method: 'GET',
    path: '/repositories/{repository}/branches',
    tag: 'branches',
    summary: 'List branches',
    requires: one('fs:ListBranches', repositoryArn),
    query: { ...page, search, show_hidden: Type.Optional(offFlag) },
    responses: {
      200: json(RefList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  createBranch: operation({
    operationId: 'createBranch',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/branches',
    tag: 'branches',
    summary: 'Create a branch; the answer is the id of its head commit',
    requires: one('fs:CreateBranch', branchArn('body.name')),
    body: body(BranchCreation),
    responses: {
      201: { content: { 'text/plain; charset=utf-8': text, 'text/html': text } },
      ...errors(400, 401, 403, 404, 409, 429, 'default'),
    },
  }),
  getBranch: operation({
    operationId: 'getBranch',
    method: 'GET',
    path: '/repositories/{repository}/branches/{branch}',
    tag: 'branches',
    summary: 'Get a branch',
    requires: one('fs:ReadBranch', branchArn('path.branch')),
    responses: {
      200: json(Ref),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  resetBranch: operation({
    operationId: 'resetBranch',
    method: 'PUT',
    idempotent: true,
    path: '/repositories/{repository}/branches/{branch}',
    tag: 'branches',
    summary: 'Discard uncommitted changes of a branch',
    requires: one('fs:RevertBranch', branchArn('path.branch')),
    body: body(ResetCreation),
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  deleteBranch: operation({
    operationId: 'deleteBranch',
    method: 'DELETE',
    idempotent: true,
    path: '/repositories/{repository}/branches/{branch}',
    tag: 'branches',
    summary: 'Delete a branch and its uncommitted changes',
    requires: one('fs:DeleteBranch', branchArn('path.branch')),
    query: { force },
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  revertBranch: operation({
    operationId: 'revertBranch',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/branches/{branch}/revert',
    tag: 'branches',
    summary: 'Add a commit that undoes another',
    requires: and(one('fs:RevertBranch', branchArn('path.branch')), ...resolutionRights),
    body: body(RevertCreation),
    responses: {
      204: empty(),
      412: json(MovedError),
      ...errors(400, 401, 403, 404, 409, 429, 'default'),
    },
  }),
  cherryPick: operation({
    operationId: 'cherryPick',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/branches/{branch}/cherry-pick',
    tag: 'branches',
    summary: 'Apply the changes of one commit to a branch',
    requires: and(
      one('fs:CreateCommit', branchArn('path.branch')),
      one('fs:ReadCommit', repositoryArn),
      ...resolutionRights,
    ),
    body: body(CherryPickCreation),
    responses: {
      201: json(Commit),
      412: json(MovedError),
      ...errors(400, 401, 403, 404, 409, 429, 'default'),
    },
  }),
  diffBranch: operation({
    operationId: 'diffBranch',
    method: 'GET',
    path: '/repositories/{repository}/branches/{branch}/diff',
    tag: 'branches',
    summary: 'List uncommitted changes',
    requires: one('fs:ListObjects', repositoryArn),
    query: { ...page, delimiter },
    responses: {
      200: json(DiffList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  hardResetBranch: operation({
    operationId: 'hardResetBranch',
    method: 'PUT',
    idempotent: false,
    path: '/repositories/{repository}/branches/{branch}/hard_reset',
    tag: 'experimental',
    summary: 'Move a branch to another commit',
    experimental: true,
    requires: one('fs:RevertBranch', branchArn('path.branch')),
    query: { ref: text, force },
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
} as const;
