import { Type } from 'typebox';
import { body, empty, errors, json } from '../answers.ts';
import { BranchProtectionRule } from '../models/repositories.ts';
import { text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { conditionOrEmpty } from '../parameters.ts';
import { one, repositoryArn } from '../requirement-template.ts';

export const branchProtectionOperations = {
  getBranchProtectionRules: operation({
    operationId: 'getBranchProtectionRules',
    method: 'GET',
    path: '/repositories/{repository}/settings/branch_protection',
    tag: 'repositories',
    summary: 'List the protected branch patterns',
    requires: one('branches:GetBranchProtectionRules', repositoryArn),
    responses: {
      200: json(Type.Array(BranchProtectionRule), ['ETag']),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  setBranchProtectionRules: operation({
    operationId: 'setBranchProtectionRules',
    method: 'PUT',
    idempotent: true,
    path: '/repositories/{repository}/settings/branch_protection',
    tag: 'repositories',
    summary: 'Replace the protected branch patterns',
    requires: one('branches:SetBranchProtectionRules', repositoryArn),
    headers: { 'if-match': conditionOrEmpty },
    body: body(Type.Array(BranchProtectionRule)),
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 412, 429, 'default'),
    },
  }),
  createBranchProtectionRulePreflight: operation({
    operationId: 'createBranchProtectionRulePreflight',
    method: 'GET',
    path: '/repositories/{repository}/branch_protection/set_allowed',
    tag: 'internal',
    summary: 'Check whether the caller may protect branches',
    internal: true,
    requires: one('branches:SetBranchProtectionRules', repositoryArn),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 409, 429, 'default'),
    },
  }),
  internalGetBranchProtectionRules: operation({
    operationId: 'internalGetBranchProtectionRules',
    method: 'GET',
    path: '/repositories/{repository}/branch_protection',
    tag: 'internal',
    summary: 'List the protected branch patterns',
    deprecated: true,
    internal: true,
    requires: one('branches:GetBranchProtectionRules', repositoryArn),
    responses: {
      200: json(Type.Array(BranchProtectionRule)),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  internalCreateBranchProtectionRule: operation({
    operationId: 'internalCreateBranchProtectionRule',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/branch_protection',
    tag: 'internal',
    summary: 'Protect the branches of one more pattern',
    deprecated: true,
    internal: true,
    requires: one('branches:SetBranchProtectionRules', repositoryArn),
    body: body(BranchProtectionRule),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  internalDeleteBranchProtectionRule: operation({
    operationId: 'internalDeleteBranchProtectionRule',
    method: 'DELETE',
    idempotent: true,
    path: '/repositories/{repository}/branch_protection',
    tag: 'internal',
    summary: 'Stop protecting the branches of one pattern',
    deprecated: true,
    internal: true,
    requires: one('branches:SetBranchProtectionRules', repositoryArn),
    body: body(
      Type.Object({
        pattern: text,
      }),
    ),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
