import { Type } from 'typebox';
import { bytes, errors, json } from '../answers.ts';
import { ActionRun, ActionRunId, ActionRunList, HookRunList } from '../models/actions.ts';
import { textOf } from '../models/values.ts';
import { operation } from '../operation.ts';
import { after, amount, reference } from '../parameters.ts';
import { one, repositoryArn } from '../requirement-template.ts';

export const actionsOperations = {
  listRepositoryRuns: operation({
    operationId: 'listRepositoryRuns',
    method: 'GET',
    path: '/repositories/{repository}/actions/runs',
    tag: 'actions',
    summary: 'List the runs of actions',
    requires: one('ci:ReadAction', repositoryArn),
    query: {
      after,
      amount,
      branch: reference,
      commit: reference,
      event: reference,
      status: Type.Optional(textOf(['completed', 'failed', 'running'])),
    },
    responses: {
      200: json(ActionRunList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  getRun: operation({
    operationId: 'getRun',
    method: 'GET',
    path: '/repositories/{repository}/actions/runs/{run_id}',
    tag: 'actions',
    summary: 'Get a run of actions',
    requires: one('ci:ReadAction', repositoryArn),
    responses: {
      200: json(ActionRun),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  rerunHooks: operation({
    operationId: 'rerunHooks',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/actions/runs/{run_id}/rerun',
    tag: 'actions',
    summary: 'Run the hooks after an event once more',
    requires: one('ci:RerunAction', repositoryArn),
    responses: {
      202: json(ActionRunId),
      ...errors(400, 401, 403, 404, 409, 429, 'default'),
    },
  }),
  listRunHooks: operation({
    operationId: 'listRunHooks',
    method: 'GET',
    path: '/repositories/{repository}/actions/runs/{run_id}/hooks',
    tag: 'actions',
    summary: 'List the hooks of a run',
    requires: one('ci:ReadAction', repositoryArn),
    query: { after, amount },
    responses: {
      200: json(HookRunList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  getRunHookOutput: operation({
    operationId: 'getRunHookOutput',
    method: 'GET',
    path: '/repositories/{repository}/actions/runs/{run_id}/hooks/{hook_run_id}/output',
    tag: 'actions',
    summary: 'Read the output of a hook',
    requires: one('ci:ReadAction', repositoryArn),
    responses: {
      200: bytes(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
