import { Type } from 'typebox';
import { body, empty, errors, json } from '../answers.ts';
import { Policy, PolicyList, Simulation, SimulationRequest } from '../models/auth.ts';
import { offFlag } from '../models/values.ts';
import { operation } from '../operation.ts';
import { page } from '../parameters.ts';
import { and, anything, deferred, one, policyArn, userArn } from '../requirement-template.ts';

export const authPoliciesOperations = {
  listPolicies: operation({
    operationId: 'listPolicies',
    method: 'GET',
    path: '/auth/policies',
    tag: 'auth',
    summary: 'List policies',
    inSimplifiedMode: false,
    requires: one('auth:ListPolicies', anything),
    query: { ...page },
    responses: {
      200: json(PolicyList),
      ...errors(400, 401, 429, 'default'),
    },
  }),
  createPolicy: operation({
    operationId: 'createPolicy',
    method: 'POST',
    idempotent: false,
    path: '/auth/policies',
    tag: 'auth',
    summary: 'Create a policy, or replace one with update=true',
    inSimplifiedMode: false,
    requires: {
      type: 'choose',
      query: 'update',
      whenTrue: one('auth:UpdatePolicy', policyArn('body.id')),
      otherwise: and(
        one('auth:CreatePolicy', policyArn('body.id')),
        deferred(
          'only for statements about anonymous requests, which are in force without being attached',
          one('auth:AttachPolicy', policyArn('body.id')),
        ),
      ),
    },
    query: { update: Type.Optional(offFlag) },
    body: body(Policy),
    responses: {
      200: json(Policy),
      201: json(Policy),
      ...errors(400, 401, 409, 429, 'default'),
    },
  }),
  getPolicy: operation({
    operationId: 'getPolicy',
    method: 'GET',
    path: '/auth/policies/{policyId}',
    tag: 'auth',
    summary: 'Get a policy',
    inSimplifiedMode: false,
    requires: one('auth:ReadPolicy', policyArn('path.policyId')),
    responses: {
      200: json(Policy),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  updatePolicy: operation({
    operationId: 'updatePolicy',
    method: 'PUT',
    idempotent: true,
    path: '/auth/policies/{policyId}',
    tag: 'auth',
    summary: 'Replace the statements of a policy',
    inSimplifiedMode: false,
    requires: one('auth:UpdatePolicy', policyArn('path.policyId')),
    body: body(Policy),
    responses: {
      200: json(Policy),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  deletePolicy: operation({
    operationId: 'deletePolicy',
    method: 'DELETE',
    idempotent: true,
    path: '/auth/policies/{policyId}',
    tag: 'auth',
    summary: 'Delete a policy and its attachments',
    inSimplifiedMode: false,
    requires: one('auth:DeletePolicy', policyArn('path.policyId')),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  simulatePermission: operation({
    operationId: 'simulatePermission',
    method: 'POST',
    idempotent: true,
    path: '/auth/simulate',
    tag: 'auth',
    summary: 'Tell whether a user may do something, and which statement decides',
    // A policy that the caller may not read is counted in the answer, but neither named nor shown.
    requires: one('auth:ReadUser', userArn('body.user')),
    body: body(SimulationRequest),
    responses: {
      200: json(Simulation),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
