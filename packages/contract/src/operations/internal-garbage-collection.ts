import { body, empty, errors, json, optionalBody } from '../answers.ts';
import { TaskCreation } from '../models/common.ts';
import {
  GarbageCollectionPrepareResponse,
  GarbageCollectionRules,
  PrepareGCUncommittedRequest,
  PrepareGCUncommittedResponse,
  PrepareGarbageCollectionCommitsStatus,
} from '../models/garbage-collection.ts';
import { text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { one, repositoryArn } from '../permission.ts';

export const internalGarbageCollectionOperations = {
  setGarbageCollectionRulesPreflight: operation({
    operationId: 'setGarbageCollectionRulesPreflight',
    method: 'GET',
    path: '/repositories/{repository}/gc/rules/set_allowed',
    tag: 'internal',
    summary: 'Check whether the caller may set retention rules',
    internal: true,
    permission: one('retention:SetGarbageCollectionRules', repositoryArn),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  internalGetGarbageCollectionRules: operation({
    operationId: 'internalGetGarbageCollectionRules',
    method: 'GET',
    path: '/repositories/{repository}/gc/rules',
    tag: 'internal',
    summary: 'Get the retention rules',
    deprecated: true,
    internal: true,
    permission: one('retention:GetGarbageCollectionRules', repositoryArn),
    responses: {
      200: json(GarbageCollectionRules),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  internalSetGarbageCollectionRules: operation({
    operationId: 'internalSetGarbageCollectionRules',
    method: 'POST',
    idempotent: true,
    path: '/repositories/{repository}/gc/rules',
    tag: 'internal',
    summary: 'Replace the retention rules',
    deprecated: true,
    internal: true,
    permission: one('retention:SetGarbageCollectionRules', repositoryArn),
    body: body(GarbageCollectionRules),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  internalDeleteGarbageCollectionRules: operation({
    operationId: 'internalDeleteGarbageCollectionRules',
    method: 'DELETE',
    idempotent: true,
    path: '/repositories/{repository}/gc/rules',
    tag: 'internal',
    summary: 'Remove the retention rules',
    deprecated: true,
    internal: true,
    permission: one('retention:SetGarbageCollectionRules', repositoryArn),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  prepareGarbageCollectionCommits: operation({
    operationId: 'prepareGarbageCollectionCommits',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/gc/prepare_commits',
    tag: 'internal',
    summary: 'Write the list of commits whose data must be kept',
    internal: true,
    permission: one('retention:PrepareGarbageCollectionCommits', repositoryArn),
    responses: {
      201: json(GarbageCollectionPrepareResponse),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  prepareGarbageCollectionCommitsAsync: operation({
    operationId: 'prepareGarbageCollectionCommitsAsync',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/gc/prepare_commits/async',
    tag: 'internal',
    summary: 'Start writing the list of commits whose data must be kept',
    internal: true,
    permission: one('retention:PrepareGarbageCollectionCommits', repositoryArn),
    responses: {
      202: json(TaskCreation),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  prepareGarbageCollectionCommitsStatus: operation({
    operationId: 'prepareGarbageCollectionCommitsStatus',
    method: 'GET',
    path: '/repositories/{repository}/gc/prepare_commits/status',
    tag: 'internal',
    summary: 'Follow the writing of the commit list',
    internal: true,
    permission: one('retention:PrepareGarbageCollectionCommits', repositoryArn),
    query: { id: text },
    responses: {
      200: json(PrepareGarbageCollectionCommitsStatus),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  prepareGarbageCollectionUncommitted: operation({
    operationId: 'prepareGarbageCollectionUncommitted',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/gc/prepare_uncommited',
    tag: 'internal',
    summary: 'Write the list of uncommitted objects',
    internal: true,
    permission: one('retention:PrepareGarbageCollectionUncommitted', repositoryArn),
    body: optionalBody(PrepareGCUncommittedRequest),
    responses: {
      201: json(PrepareGCUncommittedResponse),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
} as const;
