import { Type } from 'typebox';
import { errors, json, optionalBody } from '../answers.ts';
import { CommitList, LastCommitList } from '../models/commits.ts';
import { DiffList } from '../models/objects.ts';
import { Merge, MergeConflicts, MergeResult, MovedError } from '../models/merges.ts';
import { Divergence, FindMergeBaseResult } from '../models/refs.ts';
import { flag, offFlag, text, textOf } from '../models/values.ts';
import { operation } from '../operation.ts';
import { resolutionRights } from './merges.ts';
import { after, amount, delimiter, page, reference, since } from '../parameters.ts';
import { and, branchArn, branchOfRefArn, one, repositoryArn } from '../requirement-template.ts';

const logQuery = {
  after,
  amount,
  objects: Type.Optional(Type.Array(text)),
  prefixes: Type.Optional(Type.Array(text)),
  limit: Type.Optional(flag),
  first_parent: Type.Optional(flag),
  since,
  stop_at: reference,
};

export const refsOperations = {
  logCommits: operation({
    operationId: 'logCommits',
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/commits',
    tag: 'refs',
    summary: 'List the commits reachable from a ref, newest first',
    requires: one('fs:ReadBranch', branchOfRefArn('path.ref')),
    query: logQuery,
    responses: {
      200: json(CommitList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  logBranchCommits: operation({
    operationId: 'logBranchCommits',
    method: 'GET',
    path: '/repositories/{repository}/branches/{branch}/commits',
    tag: 'branches',
    summary: 'List the commits of a branch, newest first',
    requires: one('fs:ReadBranch', branchArn('path.branch')),
    query: logQuery,
    responses: {
      200: json(CommitList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  listLastCommits: operation({
    operationId: 'listLastCommits',
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/last_commits',
    tag: 'refs',
    summary: 'Tell which commit last changed each entry of a folder, along first parents',
    requires: and(one('fs:ListObjects', repositoryArn), one('fs:ReadCommit', repositoryArn)),
    query: page,
    responses: {
      200: json(LastCommitList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  getDivergence: operation({
    operationId: 'getDivergence',
    method: 'GET',
    path: '/repositories/{repository}/refs/{leftRef}/divergence/{rightRef}',
    tag: 'refs',
    summary: 'Count the commits that only one of two refs has; 1001 stands for more than 1000',
    requires: one('fs:ListCommits', repositoryArn),
    responses: {
      200: json(Divergence),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  findMergeBase: operation({
    operationId: 'findMergeBase',
    method: 'GET',
    path: '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}',
    tag: 'refs',
    summary: 'Find the common ancestor of two refs',
    requires: one('fs:ListCommits', repositoryArn),
    responses: {
      200: json(FindMergeBaseResult),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  mergeIntoBranch: operation({
    operationId: 'mergeIntoBranch',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}',
    tag: 'refs',
    summary: 'Merge a ref into a branch',
    requires: and(one('fs:CreateCommit', branchArn('path.destinationBranch')), ...resolutionRights),
    body: optionalBody(Merge),
    responses: {
      200: json(MergeResult),
      409: json(MergeConflicts),
      412: json(MovedError),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  diffRefs: operation({
    operationId: 'diffRefs',
    method: 'GET',
    path: '/repositories/{repository}/refs/{leftRef}/diff/{rightRef}',
    tag: 'refs',
    summary: 'List the differences between two refs',
    requires: one('fs:ListObjects', repositoryArn),
    query: {
      ...page,
      delimiter,
      type: Type.Optional(textOf(['two_dot', 'three_dot'], { default: 'three_dot' })),
      include_right_stats: Type.Optional(offFlag),
    },
    responses: {
      200: json(DiffList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
