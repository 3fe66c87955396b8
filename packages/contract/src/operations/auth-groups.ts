import { body, bodyShownOptional, empty, errors, json } from '../answers.ts';
import { ACL, ErrorNoACL, Group, GroupCreation, GroupList, PolicyList, UserList } from '../models/auth.ts';
import { operation } from '../operation.ts';
import { page } from '../parameters.ts';
import { and, anything, groupAclPolicyArn, groupArn, one } from '../permission.ts';

export const authGroupsOperations = {
  listGroups: operation({
    operationId: 'listGroups',
    method: 'GET',
    path: '/auth/groups',
    tag: 'auth',
    summary: 'List groups',
    permission: one('auth:ListGroups', anything),
    query: { ...page },
    responses: {
      200: json(GroupList),
      ...errors(400, 401, 429, 'default'),
    },
  }),
  createGroup: operation({
    operationId: 'createGroup',
    method: 'POST',
    idempotent: false,
    path: '/auth/groups',
    tag: 'auth',
    summary: 'Create a group',
    permission: one('auth:CreateGroup', groupArn('body.id')),
    body: bodyShownOptional(GroupCreation),
    responses: {
      201: json(Group),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  getGroup: operation({
    operationId: 'getGroup',
    method: 'GET',
    path: '/auth/groups/{groupId}',
    tag: 'auth',
    summary: 'Get a group',
    permission: one('auth:ReadGroup', groupArn('path.groupId')),
    responses: {
      200: json(Group),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  deleteGroup: operation({
    operationId: 'deleteGroup',
    method: 'DELETE',
    idempotent: true,
    path: '/auth/groups/{groupId}',
    tag: 'auth',
    summary: 'Delete a group',
    permission: one('auth:DeleteGroup', groupArn('path.groupId')),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  listGroupMembers: operation({
    operationId: 'listGroupMembers',
    method: 'GET',
    path: '/auth/groups/{groupId}/members',
    tag: 'auth',
    summary: 'List the users of a group',
    permission: one('auth:ReadGroup', groupArn('path.groupId')),
    query: { ...page },
    responses: {
      200: json(UserList),
      ...errors(400, 401, 429, 'default'),
    },
  }),
  addGroupMembership: operation({
    operationId: 'addGroupMembership',
    method: 'PUT',
    idempotent: true,
    path: '/auth/groups/{groupId}/members/{userId}',
    tag: 'auth',
    summary: 'Add a user to a group',
    permission: one('auth:AddGroupMember', groupArn('path.groupId')),
    responses: {
      201: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  deleteGroupMembership: operation({
    operationId: 'deleteGroupMembership',
    method: 'DELETE',
    idempotent: true,
    path: '/auth/groups/{groupId}/members/{userId}',
    tag: 'auth',
    summary: 'Remove a user from a group',
    permission: one('auth:RemoveGroupMember', groupArn('path.groupId')),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  listGroupPolicies: operation({
    operationId: 'listGroupPolicies',
    method: 'GET',
    path: '/auth/groups/{groupId}/policies',
    tag: 'auth',
    summary: 'List the policies of a group',
    permission: one('auth:ReadGroup', groupArn('path.groupId')),
    query: { ...page },
    responses: {
      200: json(PolicyList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  attachPolicyToGroup: operation({
    operationId: 'attachPolicyToGroup',
    method: 'PUT',
    idempotent: true,
    path: '/auth/groups/{groupId}/policies/{policyId}',
    tag: 'auth',
    summary: 'Attach a policy to a group',
    permission: one('auth:AttachPolicy', groupArn('path.groupId')),
    responses: {
      201: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  detachPolicyFromGroup: operation({
    operationId: 'detachPolicyFromGroup',
    method: 'DELETE',
    idempotent: true,
    path: '/auth/groups/{groupId}/policies/{policyId}',
    tag: 'auth',
    summary: 'Detach a policy from a group',
    permission: one('auth:DetachPolicy', groupArn('path.groupId')),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  getGroupACL: operation({
    operationId: 'getGroupACL',
    method: 'GET',
    path: '/auth/groups/{groupId}/acl',
    tag: 'auth',
    summary: 'Get the access level of a group',
    permission: and(
      one('auth:ReadGroup', groupArn('path.groupId')),
      one('auth:ReadPolicy', groupAclPolicyArn),
    ),
    responses: {
      200: json(ACL),
      404: json(ErrorNoACL),
      ...errors(400, 401, 429, 'default'),
    },
  }),
  setGroupACL: operation({
    operationId: 'setGroupACL',
    method: 'POST',
    idempotent: true,
    path: '/auth/groups/{groupId}/acl',
    tag: 'auth',
    summary: 'Set the access level of a group',
    permission: and(
      one('auth:ReadGroup', groupArn('path.groupId')),
      one('auth:AttachPolicy', groupAclPolicyArn),
      one('auth:UpdatePolicy', groupAclPolicyArn),
    ),
    body: body(ACL),
    responses: {
      201: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
