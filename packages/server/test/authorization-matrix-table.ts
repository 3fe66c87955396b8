/**
 * What every operation requires, written down apart from the code that enforces it, with one request that can be
 * sent again and again. `open`: no authentication; `auth`: any user; else leaves joined by `&`, a leaf being
 * `action@resource` and `?` marking a soft one.
 *
 * Resources: `*`, `R` (repository repo1), `R(x)`, `B(x)`, `O(x)`, `T(x)` of repo1, `N(x)` a storage namespace, `U(x)`,
 * `G(x)`, `P(x)`, `E(x)` for users, groups, policies and external principals. `{…}` are facts known only after
 * the start: `{pull}` an open pull request into main, `{commit}` the head of main, `{outside}` a storage address
 * no repository owns, `{key}` an access key of bob, `{trash}` the deleted repository trashed, which cannot come back.
 */
export interface MatrixRow {
  readonly requires: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The answer is 200 and reports refused paths one by one. */
  readonly perPath?: true;
  /** Open, but the body is refused with 401 on its merits. */
  readonly refusesBody?: true;
}

const none = 'f'.repeat(64);
/** Values of path parameters unless a row says otherwise. */
export const defaultParams: Readonly<Record<string, string>> = {
  repository: 'repo1',
  alias: 'prod',
  branch: 'main',
  ref: 'main',
  leftRef: 'main',
  rightRef: 'dev',
  sourceRef: 'dev',
  destinationBranch: 'main',
  tag: 't1',
  commitId: '{commit}',
  userId: 'bob',
  groupId: 'g1',
  policyId: 'p-one',
  accessKeyId: '{key}',
  uploadId: 'no-such-upload',
  partNumber: '1',
  type: 'range',
  object_id: none,
  meta_range: none,
  range: none,
  run_id: 'no-such-run',
  hook_run_id: 'no-such-hook',
  move: 'no-such-move',
  pull_request: '{pull}',
  subscription: 'no-such-subscription',
};

const [path, written] = [{ path: 'dir/a' }, { path: 'dir/new' }];
const statement = [{ effect: 'allow', action: ['fs:ReadObject'], resource: '*' }];
const withoutCredentials = [{ effect: 'deny', action: ['ci:*'], resource: '*', principal: ['anonymous'] }];
const refs = { commits_meta_range_id: none, tags_meta_range_id: none, branches_meta_range_id: none };
const [rules, task] = [{ default_retention_days: 7, branches: [] }, { task_id: 'no-such-task' }];
const physical = { physical_address: '{outside}' };
const readRefs = 'fs:ListTags@R & fs:ListBranches@R & fs:ListCommits@R';
const makesPolicy = 'auth:CreatePolicy@P(made) & auth:AttachPolicy@P(made)';
const writeRefs = 'fs:CreateTag@R & fs:CreateBranch@R & fs:CreateCommit@R';
const readTrees = 'fs:ListObjects@R & fs:ReadRepository@R';

export const matrix: Readonly<Record<string, MatrixRow>> = {
  listEvents: { requires: 'auth' },
  listRepositoryEvents: { requires: 'auth' },
  createSubscription: { requires: 'fs:WriteSubscription@*', body: { url: 'https://127.0.0.1/' } },
  listSubscriptions: { requires: 'fs:ReadSubscription@*' },
  getSubscription: { requires: 'fs:ReadSubscription@*' },
  updateSubscription: { requires: 'fs:WriteSubscription@*', body: {} },
  deleteSubscription: { requires: 'fs:WriteSubscription@*' },
  testSubscription: { requires: 'fs:WriteSubscription@*' },
  rotateSubscriptionSecret: { requires: 'fs:WriteSubscription@*' },
  listDeliveries: { requires: 'fs:ReadSubscription@*' },
  redeliver: { requires: 'fs:WriteSubscription@*', body: { all: true } },
  discardDelivery: { requires: 'fs:WriteSubscription@*', query: { sequence: '1' } },
  setupCommPrefs: { requires: 'open', body: { featureUpdates: false, securityUpdates: false } },
  getSetupState: { requires: 'open' },
  setup: { requires: 'open', body: { username: 'intruder' } },
  getInstallationState: { requires: 'open' },
  setupInstallation: { requires: 'open', body: { username: 'intruder' } },
  getCurrentUser: { requires: 'auth' },
  login: { requires: 'open', body: { access_key_id: 'x', secret_access_key: 'y' }, refusesBody: true },
  externalPrincipalLogin: { requires: 'open', body: { identityRequest: {} } },
  stsLogin: { requires: 'open', body: { code: 'c', state: 's', redirect_uri: 'r' } },
  getAuthCapabilities: { requires: 'open' },
  listUsers: { requires: 'auth:ListUsers@*' },
  createUser: { requires: 'auth:CreateUser@U(made)', body: { id: 'made' } },
  getUser: { requires: 'auth:ReadUser@U(bob)' },
  deleteUser: { requires: 'auth:DeleteUser@U(nobody)', params: { userId: 'nobody' } },
  listGroups: { requires: 'auth:ListGroups@*' },
  createGroup: { requires: 'auth:CreateGroup@G(made)', body: { id: 'made' } },
  getGroup: { requires: 'auth:ReadGroup@G(g1)' },
  deleteGroup: { requires: 'auth:DeleteGroup@G(nobody)', params: { groupId: 'nobody' } },
  listPolicies: { requires: 'auth:ListPolicies@*' },
  createPolicy: { requires: makesPolicy, body: { id: 'made', statement: withoutCredentials } },
  updatePolicyByPost: {
    requires: 'auth:UpdatePolicy@P(p-one)',
    query: { update: 'true' },
    body: { id: 'p-one', statement },
  },
  getPolicy: { requires: 'auth:ReadPolicy@P(p-one)' },
  updatePolicy: { requires: 'auth:UpdatePolicy@P(p-one)', body: { id: 'p-one', statement } },
  deletePolicy: { requires: 'auth:DeletePolicy@P(nothing)', params: { policyId: 'nothing' } },
  listGroupMembers: { requires: 'auth:ReadGroup@G(g1)' },
  addGroupMembership: { requires: 'auth:AddGroupMember@G(g1)' },
  deleteGroupMembership: { requires: 'auth:RemoveGroupMember@G(g1)' },
  listUserCredentials: { requires: 'auth:ListCredentials@U(bob)' },
  createCredentials: {
    requires: 'auth:CreateCredentials@U(bob) & fs:ReadRepository@R',
    body: { view: { repository: 'repo1', ref: 'main' } },
  },
  deleteCredentials: { requires: 'auth:DeleteCredentials@U(bob)', params: { accessKeyId: 'NOSUCHKEY' } },
  getCredentials: { requires: 'auth:ReadCredentials@U(bob)' },
  listUserGroups: { requires: 'auth:ReadUser@U(bob)' },
  listUserPolicies: { requires: 'auth:ReadUser@U(bob)' },
  attachPolicyToUser: { requires: 'auth:AttachPolicy@U(bob)' },
  detachPolicyFromUser: { requires: 'auth:DetachPolicy@U(bob)' },
  createUserExternalPrincipal: {
    requires: 'auth:CreateUserExternalPrincipal@U(bob)',
    query: { principalId: 'aws/1' },
  },
  deleteUserExternalPrincipal: {
    requires: 'auth:DeleteUserExternalPrincipal@U(bob)',
    query: { principalId: 'aws/1' },
  },
  listUserExternalPrincipals: { requires: 'auth:ReadUser@U(bob)' },
  getExternalPrincipal: { requires: 'auth:ReadExternalPrincipal@E(aws/1)', query: { principalId: 'aws/1' } },
  listGroupPolicies: { requires: 'auth:ReadGroup@G(g1)' },
  attachPolicyToGroup: { requires: 'auth:AttachPolicy@G(g1)' },
  detachPolicyFromGroup: { requires: 'auth:DetachPolicy@G(g1)' },
  setGroupACL: {
    requires:
      'auth:ReadGroup@G(levels) & auth:AttachPolicy@P(ACL(_-_)levels) & auth:UpdatePolicy@P(ACL(_-_)levels)',
    params: { groupId: 'levels' },
    body: { permission: 'Read' },
  },
  getGroupACL: {
    requires: 'auth:ReadGroup@G(levels) & auth:ReadPolicy@P(ACL(_-_)levels)',
    params: { groupId: 'levels' },
  },
  listRepositories: { requires: 'fs:ListRepositories@*' },
  createRepository: {
    requires: 'fs:CreateRepository@R(made) & ?fs:AttachStorageNamespace@N({outside}/made)',
    body: { name: 'made', storage_namespace: '{outside}/made' },
  },
  getRepository: { requires: 'fs:ReadRepository@R' },
  deleteRepository: { requires: 'fs:DeleteRepository@R(gone)', params: { repository: 'gone' } },
  listAliases: { requires: 'fs:ListAliases@*' },
  createAlias: {
    requires: 'fs:CreateAlias@A(prod) & fs:ReadRepository@R',
    body: { name: 'prod', repository: 'repo1', ref: 'main' },
  },
  getAlias: { requires: 'fs:ReadAlias@A(prod)' },
  setAlias: {
    requires: 'fs:UpdateAlias@A(prod) & fs:ReadRepository@R',
    body: { repository: 'repo1', ref: 'main' },
  },
  deleteAlias: { requires: 'fs:DeleteAlias@A(nothing)', params: { alias: 'nothing' } },
  rollbackAlias: { requires: 'fs:UpdateAlias@A(prod)' },
  aliasLog: { requires: 'fs:ReadAlias@A(prod)' },
  setCredentialsView: {
    requires: 'auth:CreateCredentials@U(bob) & fs:ReadRepository@R',
    params: { accessKeyId: 'NOSUCHKEY' },
    body: { repository: 'repo1', ref: 'main' },
  },
  deleteCredentialsView: {
    requires: 'auth:CreateCredentials@U(bob)',
    params: { accessKeyId: 'NOSUCHKEY' },
  },
  listDeletedRepositories: { requires: 'fs:ListRepositories@*' },
  restoreRepository: {
    requires: 'fs:CreateRepository@R(trashed) & ?fs:AttachStorageNamespace@N(local://trashed)',
    params: { instance: '{trash}' },
  },
  purgeRepository: { requires: 'fs:DeleteRepository@R(trashed)', params: { instance: '{trash}' } },
  getRepositoryMetadata: { requires: 'fs:ReadRepository@R' },
  setRepositoryMetadata: { requires: 'fs:UpdateRepository@R', body: { metadata: { a: 'b' } } },
  deleteRepositoryMetadata: { requires: 'fs:UpdateRepository@R', body: { keys: ['a'] } },
  getGCRules: { requires: 'retention:GetGarbageCollectionRules@R' },
  setGCRules: { requires: 'retention:SetGarbageCollectionRules@R', body: rules },
  deleteGCRules: { requires: 'retention:SetGarbageCollectionRules@R' },
  startGCRun: { requires: 'retention:RunGarbageCollection@R', body: { dry_run: true } },
  listGCRuns: { requires: 'retention:GetGarbageCollectionRuns@R' },
  getGCRun: { requires: 'retention:GetGarbageCollectionRuns@R', params: { run: 'none' } },
  listGCRunObjects: {
    requires: 'retention:GetGarbageCollectionRuns@R',
    params: { run: 'none' },
    query: { kind: 'deleted' },
  },
  cancelGCRun: { requires: 'retention:RunGarbageCollection@R', params: { run: 'none' } },
  getGCQuarantine: { requires: 'retention:GetGarbageCollectionRuns@R' },
  rescueGarbage: {
    requires: 'retention:RunGarbageCollection@R & fs:ReadCommit@R',
    body: { ref: 'main', days: 0 },
  },
  getGCSettings: { requires: 'retention:GetGarbageCollectionRules@R' },
  setGCSettings: { requires: 'retention:SetGarbageCollectionRules@R', body: { enabled: 'inherit' } },
  getBranchProtectionRules: { requires: 'branches:GetBranchProtectionRules@R' },
  setBranchProtectionRules: {
    requires: 'branches:SetBranchProtectionRules@R',
    body: [{ pattern: 'never-*' }],
  },
  dumpRefs: { requires: readRefs },
  restoreRefs: { requires: writeRefs, body: refs },
  dumpSubmit: { requires: readRefs },
  dumpStatus: { requires: readRefs, query: task },
  restoreSubmit: { requires: writeRefs, body: refs },
  restoreStatus: { requires: writeRefs, query: task },
  listTags: { requires: 'fs:ListTags@R' },
  createTag: { requires: 'fs:CreateTag@T(made)', body: { id: 'made', ref: 'main' } },
  getTag: { requires: 'fs:ReadTag@T(t1)' },
  deleteTag: { requires: 'fs:DeleteTag@T(gone)', params: { tag: 'gone' } },
  listBranches: { requires: 'fs:ListBranches@R' },
  listReflog: { requires: 'fs:ListBranches@R' },
  getRefMove: { requires: 'fs:ListBranches@R' },
  expireReflog: {
    requires: 'retention:SetGarbageCollectionRules@R',
    query: { before: '2026-01-01T00:00:00Z' },
  },
  resolveRef: { requires: 'fs:ReadCommit@R' },
  listDeletedRefs: { requires: 'fs:ListBranches@R' },
  undeleteRef: { requires: 'fs:CreateBranch@B(gone)', body: { type: 'branch', id: 'gone' } },
  rollbackBranch: {
    requires: 'fs:RevertBranch@B(scratch)',
    params: { branch: 'scratch' },
    body: { to: 'main' },
  },
  getReflogSettings: { requires: 'fs:ReadRepository@R' },
  setReflogSettings: { requires: 'fs:UpdateRepository@R', body: { retention_days: 7 } },
  createBranch: { requires: 'fs:CreateBranch@B(made)', body: { name: 'made', source: 'main' } },
  logCommits: { requires: 'fs:ReadBranch@B(main)' },
  logBranchCommits: { requires: 'fs:ReadBranch@B(main)' },
  commit: { requires: 'fs:CreateCommit@B(main)', body: { message: 'm' } },
  CreateCommitRecord: {
    requires: 'fs:CreateCommit@R',
    body: {
      commit_id: 'x',
      version: 1,
      committer: 'c',
      message: 'm',
      metarange_id: none,
      creation_date: 1,
      parents: [],
      generation: 1,
    },
  },
  getBranch: { requires: 'fs:ReadBranch@B(main)' },
  deleteBranch: { requires: 'fs:DeleteBranch@B(gone)', params: { branch: 'gone' } },
  resetBranch: {
    requires: 'fs:RevertBranch@B(scratch)',
    params: { branch: 'scratch' },
    body: { type: 'reset' },
  },
  hardResetBranch: {
    requires: 'fs:RevertBranch@B(scratch)',
    params: { branch: 'scratch' },
    query: { ref: 'main' },
  },
  revertBranch: { requires: 'fs:RevertBranch@B(main)', body: { ref: 'no-such-ref', parent_number: 0 } },
  cherryPick: { requires: 'fs:CreateCommit@B(main) & fs:ReadCommit@R', body: { ref: 'no-such-ref' } },
  mergeIntoBranch: { requires: 'fs:CreateCommit@B(main)' },
  findMergeBase: { requires: 'fs:ListCommits@R' },
  diffBranch: { requires: 'fs:ListObjects@R' },
  diffRefs: { requires: 'fs:ListObjects@R' },
  getCommit: { requires: 'fs:ReadCommit@R' },
  getObject: { requires: 'fs:ReadObject@O(dir/a)', query: path },
  headObject: { requires: 'fs:ReadObject@O(dir/a)', query: path },
  createPresignMultipartUpload: { requires: 'fs:WriteObject@O(dir/new)', query: written },
  completePresignMultipartUpload: {
    requires: 'fs:WriteObject@O(dir/new)',
    query: written,
    body: { ...physical, parts: [] },
  },
  abortPresignMultipartUpload: { requires: 'fs:WriteObject@O(dir/new)', query: written, body: physical },
  uploadPart: { requires: 'fs:WriteObject@O(dir/new)', query: written, body: physical },
  uploadPartCopy: {
    requires: 'fs:WriteObject@O(dir/new) & fs:ReadObject@O(dir/a)',
    query: written,
    body: { ...physical, copy_source: { repository: 'repo1', ref: 'main', path: 'dir/a' } },
  },
  getPhysicalAddress: { requires: 'fs:WriteObject@O(dir/new)', query: written },
  linkPhysicalAddress: {
    requires: 'fs:WriteObject@O(dir/new) & ?fs:ImportFromStorage@N({outside})',
    query: written,
    body: { staging: physical, checksum: 'c', size_bytes: 1 },
  },
  importStatus: { requires: 'fs:ReadBranch@B(main)', query: { id: 'no-such-import' } },
  importStart: {
    requires:
      'fs:WriteObject@B(scratch) & fs:CreateCommit@B(scratch) & fs:ImportFromStorage@N({outside}/) & fs:WriteObject@O(imported/)',
    params: { branch: 'scratch' },
    body: {
      paths: [{ type: 'common_prefix', path: '{outside}/', destination: 'imported/' }],
      commit: { message: 'm' },
    },
  },
  importCancel: { requires: 'fs:ImportCancel@B(main)', query: { id: 'no-such-import' } },
  uploadObjectPreflight: { requires: 'fs:WriteObject@O(dir/new)', query: written },
  stageObject: {
    requires: 'fs:WriteObject@O(dir/new) & ?fs:ImportFromStorage@N({outside})',
    query: written,
    body: { ...physical, checksum: 'c', size_bytes: 1 },
  },
  uploadObject: { requires: 'fs:WriteObject@O(dir/new)', query: written, body: 'content' },
  deleteObject: { requires: 'fs:DeleteObject@O(dir/gone)', query: { path: 'dir/gone' } },
  deleteObjects: { requires: 'fs:DeleteObject@O(dir/gone)', body: { paths: ['dir/gone'] }, perPath: true },
  copyObject: {
    requires: 'fs:ReadObject@O(dir/a) & fs:WriteObject@O(dir/copy)',
    query: { dest_path: 'dir/copy' },
    body: { src_path: 'dir/a' },
  },
  statObject: { requires: 'fs:ReadObject@O(dir/a)', query: path },
  updateObjectUserMetadata: { requires: 'fs:WriteObject@O(dir/a)', query: path, body: { set: { a: 'b' } } },
  getUnderlyingProperties: { requires: 'fs:ReadObject@O(dir/a)', query: path },
  listObjects: { requires: 'fs:ListObjects@R' },
  createSymlinkFile: { requires: 'fs:WriteObject@O(main)' },
  listRepositoryRuns: { requires: 'ci:ReadAction@R' },
  getRun: { requires: 'ci:ReadAction@R' },
  rerunHooks: { requires: 'ci:RerunAction@R' },
  listRunHooks: { requires: 'ci:ReadAction@R' },
  getRunHookOutput: { requires: 'ci:ReadAction@R' },
  getMetadataObject: { requires: readTrees },
  getMetaRange: { requires: readTrees },
  getRange: { requires: readTrees },
  setGarbageCollectionRulesPreflight: { requires: 'retention:SetGarbageCollectionRules@R' },
  internalGetGarbageCollectionRules: { requires: 'retention:GetGarbageCollectionRules@R' },
  internalSetGarbageCollectionRules: { requires: 'retention:SetGarbageCollectionRules@R', body: rules },
  internalDeleteGarbageCollectionRules: { requires: 'retention:SetGarbageCollectionRules@R' },
  prepareGarbageCollectionCommits: { requires: 'retention:PrepareGarbageCollectionCommits@R' },
  prepareGarbageCollectionCommitsAsync: { requires: 'retention:PrepareGarbageCollectionCommits@R' },
  prepareGarbageCollectionCommitsStatus: {
    requires: 'retention:PrepareGarbageCollectionCommits@R',
    query: { id: 'no-such-task' },
  },
  prepareGarbageCollectionUncommitted: { requires: 'retention:PrepareGarbageCollectionUncommitted@R' },
  createBranchProtectionRulePreflight: { requires: 'branches:SetBranchProtectionRules@R' },
  internalGetBranchProtectionRules: { requires: 'branches:GetBranchProtectionRules@R' },
  internalCreateBranchProtectionRule: {
    requires: 'branches:SetBranchProtectionRules@R',
    body: { pattern: 'never-*' },
  },
  internalDeleteBranchProtectionRule: {
    requires: 'branches:SetBranchProtectionRules@R',
    body: { pattern: 'never-*' },
  },
  listPullRequests: { requires: 'pr:ListPullRequests@R' },
  createPullRequest: {
    requires: 'pr:WritePullRequest@R',
    body: { title: 't', source_branch: 'dev', destination_branch: 'main' },
  },
  getPullRequest: { requires: 'pr:ReadPullRequest@R' },
  updatePullRequest: { requires: 'pr:WritePullRequest@R', body: { title: 'renamed' } },
  mergePullRequest: { requires: 'pr:WritePullRequest@R & fs:CreateCommit@B(main)' },
  healthCheck: { requires: 'open' },
  getConfig: { requires: 'auth' },
  getLakeFSVersion: { requires: 'auth' },
  getStorageConfig: { requires: 'fs:ReadConfig@*' },
  getGarbageCollectionConfig: { requires: 'auth' },
  postStatsEvents: { requires: 'auth', body: { events: [{ class: 'c', name: 'n', count: 1 }] } },
  getUsageReportSummary: { requires: 'auth' },
  oauthCallback: { requires: 'open' },
  forgotPassword: { requires: 'open', body: { email: 'a@example.com' } },
  updatePassword: { requires: 'open', body: { token: 't', newPassword: 'long enough' }, refusesBody: true },
};
