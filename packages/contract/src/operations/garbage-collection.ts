import { errors, json, optionalBody } from '../answers.ts';
import { TaskCreation } from '../models/common.ts';
import {
  GarbageCollectionConfig,
  GarbageCollectionPrepareResponse,
  PrepareGCUncommittedRequest,
  PrepareGCUncommittedResponse,
  PrepareGarbageCollectionCommitsStatus,
} from '../models/garbage-collection.ts';
import { text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { authenticated, one, repositoryArn } from '../requirement-template.ts';

export const garbageCollectionOperations = {
  getGarbageCollectionConfig: operation({
    operationId: 'getGarbageCollectionConfig',
    method: 'GET',
    path: '/config/garbage-collection',
    tag: 'internal',
    summary: 'Get the settings of garbage collection',
    internal: true,
    requires: authenticated,
    responses: {
      200: json(GarbageCollectionConfig),
      ...errors(401),
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
    requires: one('retention:PrepareGarbageCollectionCommits', repositoryArn),
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
    requires: one('retention:PrepareGarbageCollectionCommits', repositoryArn),
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
    requires: one('retention:PrepareGarbageCollectionCommits', repositoryArn),
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
    requires: one('retention:PrepareGarbageCollectionUncommitted', repositoryArn),
    body: optionalBody(PrepareGCUncommittedRequest),
    responses: {
      201: json(PrepareGCUncommittedResponse),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
} as const;
