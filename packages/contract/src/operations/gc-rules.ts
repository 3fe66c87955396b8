import { body, empty, errors, json } from '../answers.ts';
import { GarbageCollectionRules } from '../models/garbage-collection.ts';
import { operation } from '../operation.ts';
import { one, repositoryArn } from '../requirement-template.ts';

export const gcRulesOperations = {
  getGCRules: operation({
    operationId: 'getGCRules',
    method: 'GET',
    path: '/repositories/{repository}/settings/gc_rules',
    tag: 'repositories',
    summary: 'Get the retention rules',
    requires: one('retention:GetGarbageCollectionRules', repositoryArn),
    responses: {
      200: json(GarbageCollectionRules),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  setGCRules: operation({
    operationId: 'setGCRules',
    method: 'PUT',
    idempotent: true,
    path: '/repositories/{repository}/settings/gc_rules',
    tag: 'repositories',
    summary: 'Replace the retention rules',
    requires: one('retention:SetGarbageCollectionRules', repositoryArn),
    body: body(GarbageCollectionRules),
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  deleteGCRules: operation({
    operationId: 'deleteGCRules',
    method: 'DELETE',
    idempotent: true,
    path: '/repositories/{repository}/settings/gc_rules',
    tag: 'repositories',
    summary: 'Remove the retention rules',
    requires: one('retention:SetGarbageCollectionRules', repositoryArn),
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  setGarbageCollectionRulesPreflight: operation({
    operationId: 'setGarbageCollectionRulesPreflight',
    method: 'GET',
    path: '/repositories/{repository}/gc/rules/set_allowed',
    tag: 'internal',
    summary: 'Check whether the caller may set retention rules',
    internal: true,
    requires: one('retention:SetGarbageCollectionRules', repositoryArn),
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
    requires: one('retention:GetGarbageCollectionRules', repositoryArn),
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
    requires: one('retention:SetGarbageCollectionRules', repositoryArn),
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
    requires: one('retention:SetGarbageCollectionRules', repositoryArn),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
