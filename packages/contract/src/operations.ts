import type { Operation } from './operation.ts';
import { aliasesOperations } from './operations/aliases.ts';
import { actionsOperations } from './operations/actions.ts';
import { auditOperations } from './operations/audit.ts';
import { authOperations } from './operations/auth.ts';
import { authGroupsOperations } from './operations/auth-groups.ts';
import { authPoliciesOperations } from './operations/auth-policies.ts';
import { authUsersOperations } from './operations/auth-users.ts';
import { branchProtectionOperations } from './operations/branch-protection.ts';
import { branchesOperations } from './operations/branches.ts';
import { cliLoginsOperations } from './operations/cli-logins.ts';
import { commitsOperations } from './operations/commits.ts';
import { configOperations } from './operations/config.ts';
import { eventsOperations } from './operations/events.ts';
import { garbageCollectionOperations } from './operations/garbage-collection.ts';
import { gcRulesOperations } from './operations/gc-rules.ts';
import { gcRunsOperations } from './operations/gc-runs.ts';
import { healthCheckOperations } from './operations/health-check.ts';
import { importOperations } from './operations/import.ts';
import { internalOperations } from './operations/internal.ts';
import { internalRepositoriesOperations } from './operations/internal-repositories.ts';
import { mergesOperations } from './operations/merges.ts';
import { metadataOperations } from './operations/metadata.ts';
import { objectsOperations } from './operations/objects.ts';
import { pullsOperations } from './operations/pulls.ts';
import { reflogOperations } from './operations/reflog.ts';
import { refsOperations } from './operations/refs.ts';
import { repositoriesOperations } from './operations/repositories.ts';
import { sessionsOperations } from './operations/sessions.ts';
import { stagingOperations } from './operations/staging.ts';
import { subscriptionsOperations } from './operations/subscriptions.ts';
import { tagsOperations } from './operations/tags.ts';

/** The operations by the file that describes them; the API's handlers are in files of the same names. */
export const operationGroups = {
  internal: internalOperations,
  'internal-repositories': internalRepositoriesOperations,
  'garbage-collection': garbageCollectionOperations,
  'gc-rules': gcRulesOperations,
  'gc-runs': gcRunsOperations,
  'branch-protection': branchProtectionOperations,
  auth: authOperations,
  'auth-users': authUsersOperations,
  'auth-groups': authGroupsOperations,
  'auth-policies': authPoliciesOperations,
  repositories: repositoriesOperations,
  tags: tagsOperations,
  branches: branchesOperations,
  refs: refsOperations,
  merges: mergesOperations,
  reflog: reflogOperations,
  aliases: aliasesOperations,
  commits: commitsOperations,
  objects: objectsOperations,
  staging: stagingOperations,
  import: importOperations,
  actions: actionsOperations,
  events: eventsOperations,
  subscriptions: subscriptionsOperations,
  metadata: metadataOperations,
  pulls: pullsOperations,
  'health-check': healthCheckOperations,
  config: configOperations,
  audit: auditOperations,
  sessions: sessionsOperations,
  'cli-logins': cliLoginsOperations,
} as const satisfies Record<string, Record<string, Operation>>;

export type OperationGroups = typeof operationGroups;
export type OperationGroup = keyof OperationGroups;

/** Every operation of the API by its id. */
export const operations = {
  ...internalOperations,
  ...internalRepositoriesOperations,
  ...garbageCollectionOperations,
  ...gcRulesOperations,
  ...gcRunsOperations,
  ...branchProtectionOperations,
  ...authOperations,
  ...authUsersOperations,
  ...authGroupsOperations,
  ...authPoliciesOperations,
  ...repositoriesOperations,
  ...tagsOperations,
  ...branchesOperations,
  ...refsOperations,
  ...mergesOperations,
  ...reflogOperations,
  ...aliasesOperations,
  ...commitsOperations,
  ...objectsOperations,
  ...stagingOperations,
  ...importOperations,
  ...actionsOperations,
  ...eventsOperations,
  ...subscriptionsOperations,
  ...metadataOperations,
  ...pullsOperations,
  ...healthCheckOperations,
  ...configOperations,
  ...auditOperations,
  ...sessionsOperations,
  ...cliLoginsOperations,
} as const satisfies Record<string, Operation>;

export type Operations = typeof operations;
export type OperationId = keyof Operations;
