const words: Readonly<Record<string, string>> = {
  'fs:WriteObject': 'write objects here',
  'fs:DeleteObject': 'delete objects here',
  'fs:CreateCommit': 'commit to this branch',
  'fs:RevertBranch': 'undo changes on this branch',
  'fs:CreateBranch': 'create branches in this repository',
  'fs:DeleteBranch': 'delete branches of this repository',
  'fs:CreateTag': 'create tags in this repository',
  'fs:DeleteTag': 'delete tags of this repository',
  'fs:DeleteRepository': 'delete this repository',
  'fs:UpdateRepository': 'change this repository',
  'pr:WritePullRequest': 'write pull requests in this repository',
  'branches:SetBranchProtectionRules': 'change the rules of branch protection',
  'auth:CreateUser': 'create users',
  'auth:DeleteUser': 'delete users',
  'auth:CreateGroup': 'create groups',
  'auth:DeleteGroup': 'delete groups',
  'auth:AddGroupMember': 'add members to groups',
  'auth:RemoveGroupMember': 'remove members of groups',
  'auth:CreatePolicy': 'create policies',
  'auth:UpdatePolicy': 'change policies',
  'auth:DeletePolicy': 'delete policies',
  'auth:AttachPolicy': 'attach policies',
  'auth:DetachPolicy': 'detach policies',
  'auth:CreateCredentials': 'create access keys',
  'auth:DeleteCredentials': 'revoke access keys',
  'auth:EndSessions': 'end sessions',
  'fs:CreateAlias': 'create buckets',
  'fs:UpdateAlias': 'change buckets',
  'fs:DeleteAlias': 'delete buckets',
  'fs:WriteSubscription': 'change webhooks',
  'retention:SetGarbageCollectionRules': 'change the rules of garbage collection',
  'retention:RunGarbageCollection': 'collect the garbage of this repository',
};

/** Why somebody may not do something, or undefined when they may or when it is not known: the server then says. */
export function refusalOf(action: string, rights: ReadonlySet<string> | undefined): string | undefined {
  if (rights === undefined || rights.has(action)) return undefined;
  return `You may not ${words[action] ?? 'do this'}: your account lacks ${action}`;
}
