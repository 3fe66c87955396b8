import type { AclPermission, Statement } from '../model.ts';

/** The policy that carries a group's access level. */
export function aclPolicyId(group: string): string {
  return `ACL(_-_)${group}`;
}

export function isAclPermission(text: string): text is AclPermission {
  return Object.hasOwn(ladder, text);
}

export function aclStatements(permission: AclPermission): readonly Statement[] {
  return ladder[permission];
}

function allow(action: readonly string[], resource = '*'): Statement {
  return { effect: 'allow', action, resource };
}

export const ownCredentials: Statement = allow(
  ['auth:CreateCredentials', 'auth:DeleteCredentials', 'auth:ListCredentials', 'auth:ReadCredentials'],
  'arn:svc:auth:::user/${user}',
);

const readManagement = allow([
  'ci:Read*',
  'retention:Get*',
  'branches:Get*',
  'pr:Read*',
  'pr:List*',
  'fs:ReadConfig',
]);

const ladder: Readonly<Record<AclPermission, readonly Statement[]>> = {
  Read: [allow(['fs:List*', 'fs:Read*']), allow(['fs:ReadConfig']), ownCredentials],
  Write: [
    allow([
      'fs:Read*',
      'fs:List*',
      'fs:WriteObject',
      'fs:DeleteObject',
      'fs:RevertBranch',
      'fs:CreateBranch',
      'fs:CreateTag',
      'fs:DeleteBranch',
      'fs:DeleteTag',
      'fs:CreateCommit',
    ]),
    ownCredentials,
    readManagement,
  ],
  Super: [allow(['fs:*']), ownCredentials, readManagement],
  Admin: [allow(['fs:*', 'auth:*', 'ci:*', 'retention:*', 'branches:*', 'pr:*'])],
};
