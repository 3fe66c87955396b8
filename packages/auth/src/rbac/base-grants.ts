import type { AclPermission, Statement } from '../model.ts';
import { ownCredentials } from './acl.ts';

function allow(...action: readonly string[]): Statement {
  return { effect: 'allow', action, resource: '*' };
}

/** Policies made at setup. They are ordinary records afterwards: editable, deletable, not made again. */
export const basePolicies: Readonly<Record<string, readonly Statement[]>> = {
  FSFullAccess: [allow('fs:*')],
  FSReadAll: [allow('fs:List*', 'fs:Read*')],
  FSReadWriteAll: [
    allow(
      'fs:ListRepositories',
      'fs:ReadRepository',
      'fs:ReadCommit',
      'fs:ListBranches',
      'fs:ListObjects',
      'fs:ReadObject',
      'fs:WriteObject',
      'fs:DeleteObject',
      'fs:RevertBranch',
      'fs:ReadBranch',
      'fs:CreateBranch',
      'fs:DeleteBranch',
      'fs:CreateCommit',
    ),
  ],
  AuthFullAccess: [allow('auth:*')],
  AuthManageOwnCredentials: [ownCredentials],
  RepoManagementFullAccess: [allow('ci:*'), allow('retention:*')],
  RepoManagementReadAll: [allow('ci:Read*'), allow('retention:Get*')],
  ExportSetConfiguration: [allow('fs:ExportConfig')],
  BranchesFullAccess: [allow('branches:*')],
  BranchesReadAll: [allow('branches:Get*')],
  PRReadWriteAll: [allow('pr:*')],
  PRReadAll: [allow('pr:Read*', 'pr:List*')],
};

export const adminsGroup = 'Admins';

/** Groups made at setup, with their policies. */
export const baseGroups: Readonly<Record<string, readonly string[]>> = {
  [adminsGroup]: [
    'FSFullAccess',
    'AuthFullAccess',
    'RepoManagementFullAccess',
    'ExportSetConfiguration',
    'BranchesFullAccess',
    'PRReadWriteAll',
  ],
  SuperUsers: [
    'FSFullAccess',
    'AuthManageOwnCredentials',
    'RepoManagementReadAll',
    'BranchesReadAll',
    'PRReadWriteAll',
  ],
  Developers: [
    'FSReadWriteAll',
    'AuthManageOwnCredentials',
    'RepoManagementReadAll',
    'BranchesReadAll',
    'PRReadWriteAll',
  ],
  Viewers: ['FSReadAll', 'AuthManageOwnCredentials'],
};

/** The same groups where groups have access levels in place of policies. */
export const baseAcls: Readonly<Record<string, AclPermission>> = {
  [adminsGroup]: 'Admin',
  SuperUsers: 'Super',
  Developers: 'Write',
  Viewers: 'Read',
};
