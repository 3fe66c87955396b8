import { Type } from 'typebox';
import { body, empty, errors, json, optionalBody } from '../answers.ts';
import {
  PullRequest,
  PullRequestBasic,
  PullRequestCreation,
  PullRequestCreationResponse,
  PullRequestsList,
} from '../models/pulls.ts';
import { MergeConflicts, MergeResult, MovedError, PullMerge } from '../models/merges.ts';
import { textOf } from '../models/values.ts';
import { operation } from '../operation.ts';
import { page } from '../parameters.ts';
import { resolutionRights } from './merges.ts';
import { and, branchArn, deferred, one, repositoryArn } from '../requirement-template.ts';

export const pullsOperations = {
  listPullRequests: operation({
    operationId: 'listPullRequests',
    method: 'GET',
    path: '/repositories/{repository}/pulls',
    tag: 'pulls',
    summary: 'List pull requests, newest first',
    requires: one('pr:ListPullRequests', repositoryArn),
    query: { ...page, status: Type.Optional(textOf(['open', 'closed', 'all'], { default: 'all' })) },
    responses: {
      200: json(PullRequestsList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  createPullRequest: operation({
    operationId: 'createPullRequest',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/pulls',
    tag: 'pulls',
    summary: 'Create a pull request',
    requires: one('pr:WritePullRequest', repositoryArn),
    body: body(PullRequestCreation),
    responses: {
      201: json(PullRequestCreationResponse),
      ...errors(400, 401, 403, 404, 409, 429, 'default'),
    },
  }),
  getPullRequest: operation({
    operationId: 'getPullRequest',
    method: 'GET',
    path: '/repositories/{repository}/pulls/{pull_request}',
    tag: 'pulls',
    summary: 'Get a pull request',
    requires: one('pr:ReadPullRequest', repositoryArn),
    responses: {
      200: json(PullRequest),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  updatePullRequest: operation({
    operationId: 'updatePullRequest',
    method: 'PATCH',
    idempotent: true,
    path: '/repositories/{repository}/pulls/{pull_request}',
    tag: 'pulls',
    summary: 'Change the title, description or status of a pull request',
    requires: one('pr:WritePullRequest', repositoryArn),
    body: body(PullRequestBasic),
    responses: {
      204: empty(),
      200: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  mergePullRequest: operation({
    operationId: 'mergePullRequest',
    method: 'PUT',
    idempotent: false,
    path: '/repositories/{repository}/pulls/{pull_request}/merge',
    tag: 'pulls',
    summary: 'Merge a pull request',
    requires: and(
      one('pr:WritePullRequest', repositoryArn),
      deferred(
        'the destination is known once the pull request was read',
        one('fs:CreateCommit', branchArn('read.destination')),
      ),
      ...resolutionRights,
    ),
    body: optionalBody(PullMerge),
    responses: {
      200: json(MergeResult),
      409: json(MergeConflicts),
      412: json(MovedError),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
} as const;
