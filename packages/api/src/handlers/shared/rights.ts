import { arn, one } from '@svc/auth';
import type { Permissions } from '@svc/auth';

const onObjects = ['fs:ReadObject', 'fs:WriteObject', 'fs:DeleteObject'];
const onBranch = ['fs:CreateCommit', 'fs:RevertBranch', 'fs:DeleteBranch'];
const onBranches = ['fs:CreateBranch', ...onBranch];
const onTags = ['fs:CreateTag', 'fs:DeleteTag'];
const onRepository = [
  'fs:DeleteRepository',
  'fs:UpdateRepository',
  'pr:WritePullRequest',
  'branches:SetBranchProtectionRules',
  'retention:SetGarbageCollectionRules',
  'retention:RunGarbageCollection',
];

/**
 * The actions that a caller may take at a place of a repository, for programs that offer them. Where the name of what
 * will be made is not known, an action counts when it is allowed on some name: refusing what might work would be worse
 * than offering what may be refused.
 */
export function rightsAt(
  permissions: Permissions,
  {
    repository,
    branch,
    path = '',
  }: { repository: string; branch: string | undefined; path?: string | undefined },
): string[] {
  const rights = new Set<string>();
  const offer = (actions: readonly string[], start: string): void => {
    for (const action of actions) if (permissions.maySome(action, start)) rights.add(action);
  };
  offer(onObjects, arn.object(repository, path));
  offer(onTags, arn.tag(repository, ''));
  offer(onBranches, arn.branch(repository, ''));
  for (const action of onRepository) {
    if (permissions.check(one(action, arn.repository(repository))).allowed) rights.add(action);
  }
  if (branch !== undefined) {
    for (const action of onBranch) {
      if (permissions.check(one(action, arn.branch(repository, branch))).allowed) rights.add(action);
      else rights.delete(action);
    }
  }
  return [...rights].sort();
}

const administration: readonly (readonly [start: string, actions: readonly string[]])[] = [
  [arn.user(''), ['auth:CreateUser', 'auth:DeleteUser', 'auth:AttachPolicy', 'auth:DetachPolicy']],
  [arn.user(''), ['auth:CreateCredentials', 'auth:DeleteCredentials', 'auth:EndSessions']],
  [arn.group(''), ['auth:CreateGroup', 'auth:DeleteGroup', 'auth:AttachPolicy', 'auth:DetachPolicy']],
  [arn.group(''), ['auth:AddGroupMember', 'auth:RemoveGroupMember']],
  [arn.policy(''), ['auth:CreatePolicy', 'auth:UpdatePolicy', 'auth:DeletePolicy']],
  [arn.alias(''), ['fs:CreateAlias', 'fs:UpdateAlias', 'fs:DeleteAlias']],
  [arn.repository(''), ['fs:WriteSubscription']],
];

/** The actions of administration that a caller may take on some name. */
export function administrationRights(permissions: Permissions): string[] {
  const rights = new Set<string>();
  for (const [start, actions] of administration) {
    for (const action of actions) if (permissions.maySome(action, start)) rights.add(action);
  }
  return [...rights].sort();
}
