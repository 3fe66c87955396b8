import { body, empty, errors, json, optionalBody } from '../answers.ts';
import {
  GcObjectList,
  GcQuarantine,
  GcRescue,
  GcRun,
  GcRunCreation,
  GcRunId,
  GcRunList,
  GcSettings,
} from '../models/gc-runs.ts';
import { textOf } from '../models/values.ts';
import { operation } from '../operation.ts';
import { after, amount } from '../parameters.ts';
import { and, deferred, one, repositoryArn } from '../requirement-template.ts';

const run = one('retention:RunGarbageCollection', repositoryArn);
const get = one('retention:GetGarbageCollectionRuns', repositoryArn);

export const gcRunsOperations = {
  startGCRun: operation({
    operationId: 'startGCRun',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/gc/runs',
    tag: 'retention',
    summary: 'Start a garbage collection',
    requires: run,
    body: optionalBody(GcRunCreation),
    responses: {
      202: json(GcRunId),
      ...errors(400, 401, 403, 404, 409, 429, 'default'),
    },
  }),
  listGCRuns: operation({
    operationId: 'listGCRuns',
    method: 'GET',
    path: '/repositories/{repository}/gc/runs',
    tag: 'retention',
    summary: 'List garbage collections, newest first',
    requires: get,
    query: { after, amount },
    responses: {
      200: json(GcRunList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  getGCRun: operation({
    operationId: 'getGCRun',
    method: 'GET',
    path: '/repositories/{repository}/gc/runs/{run}',
    tag: 'retention',
    summary: 'Get one garbage collection with its report',
    requires: get,
    responses: {
      200: json(GcRun),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  listGCRunObjects: operation({
    operationId: 'listGCRunObjects',
    method: 'GET',
    path: '/repositories/{repository}/gc/runs/{run}/objects',
    tag: 'retention',
    summary: 'List the objects a garbage collection condemned, deleted, kept or failed to delete',
    requires: get,
    query: { kind: textOf(['condemned', 'deleted', 'kept', 'failed']), after, amount },
    responses: {
      200: json(GcObjectList),
      ...errors(400, 401, 404, 410, 429, 'default'),
    },
  }),
  cancelGCRun: operation({
    operationId: 'cancelGCRun',
    method: 'POST',
    idempotent: true,
    path: '/repositories/{repository}/gc/runs/{run}/cancel',
    tag: 'retention',
    summary: 'Stop a garbage collection before it deletes more',
    requires: run,
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 409, 429, 'default'),
    },
  }),
  getGCQuarantine: operation({
    operationId: 'getGCQuarantine',
    method: 'GET',
    path: '/repositories/{repository}/gc/quarantine',
    tag: 'retention',
    summary: 'Say how much is condemned and when it goes',
    requires: get,
    responses: {
      200: json(GcQuarantine),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  rescueGarbage: operation({
    operationId: 'rescueGarbage',
    method: 'POST',
    idempotent: true,
    path: '/repositories/{repository}/gc/rescue',
    tag: 'retention',
    summary: 'Keep the data of a commit for some days, or let every window begin anew',
    requires: deferred(
      'fs:ReadCommit is needed only with a ref',
      and(run, one('fs:ReadCommit', repositoryArn)),
    ),
    body: body(GcRescue),
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  getGCSettings: operation({
    operationId: 'getGCSettings',
    method: 'GET',
    path: '/repositories/{repository}/settings/gc',
    tag: 'retention',
    summary: 'Get when a repository is collected',
    requires: one('retention:GetGarbageCollectionRules', repositoryArn),
    responses: {
      200: json(GcSettings),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  setGCSettings: operation({
    operationId: 'setGCSettings',
    method: 'PUT',
    idempotent: true,
    path: '/repositories/{repository}/settings/gc',
    tag: 'retention',
    summary: 'Set when a repository is collected',
    requires: one('retention:SetGarbageCollectionRules', repositoryArn),
    body: body(GcSettings),
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
} as const;
