import type { OperationGroup, OperationId } from '@svc/contract';
import type { Handlers, HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { actionHandlers } from './actions.ts';
import { aliasHandlers } from './aliases.ts';
import { auditHandlers } from './audit.ts';
import { authGroupHandlers } from './auth-groups.ts';
import { authPolicyHandlers } from './auth-policies.ts';
import { authUserHandlers } from './auth-users.ts';
import { authHandlers } from './auth.ts';
import { branchProtectionHandlers } from './branch-protection.ts';
import { branchHandlers } from './branches.ts';
import { cliLoginHandlers } from './cli-logins.ts';
import { commitHandlers } from './commits.ts';
import { configHandlers } from './config.ts';
import { eventHandlers } from './events.ts';
import { garbageCollectionHandlers } from './garbage-collection.ts';
import { gcRulesHandlers } from './gc-rules.ts';
import { healthCheckHandlers } from './health-check.ts';
import { importHandlers } from './import.ts';
import { internalRepositoryHandlers } from './internal-repositories.ts';
import { internalHandlers } from './internal.ts';
import { mergeHandlers } from './merges.ts';
import { metadataHandlers } from './metadata.ts';
import { objectHandlers } from './objects.ts';
import { pullHandlers } from './pulls.ts';
import { gcRunsHandlers } from './gc-runs.ts';
import { reflogHandlers } from './reflog.ts';
import { refHandlers } from './refs.ts';
import { repositoryHandlers } from './repositories.ts';
import { sessionHandlers } from './sessions.ts';
import { stagingHandlers } from './staging.ts';
import { subscriptionHandlers } from './subscriptions.ts';
import { tagHandlers } from './tags.ts';

/** The handlers of each file of the contract are in the file of the same name. */
const groups: { readonly [G in OperationGroup]: (options: ApiOptions) => HandlersOf<G> } = {
  actions: actionHandlers,
  aliases: aliasHandlers,
  audit: auditHandlers,
  'auth-groups': authGroupHandlers,
  'auth-policies': authPolicyHandlers,
  'auth-users': authUserHandlers,
  auth: authHandlers,
  'branch-protection': branchProtectionHandlers,
  branches: branchHandlers,
  'cli-logins': cliLoginHandlers,
  commits: commitHandlers,
  config: configHandlers,
  events: eventHandlers,
  'garbage-collection': garbageCollectionHandlers,
  'gc-rules': gcRulesHandlers,
  'health-check': healthCheckHandlers,
  import: importHandlers,
  'internal-repositories': internalRepositoryHandlers,
  internal: internalHandlers,
  merges: mergeHandlers,
  metadata: metadataHandlers,
  objects: objectHandlers,
  pulls: pullHandlers,
  refs: refHandlers,
  reflog: reflogHandlers,
  'gc-runs': gcRunsHandlers,
  repositories: repositoryHandlers,
  sessions: sessionHandlers,
  staging: stagingHandlers,
  subscriptions: subscriptionHandlers,
  tags: tagHandlers,
};

/** One handler per operation of the contract; a missing one does not compile. */
export function createHandlers(options: ApiOptions): Handlers<OperationId> {
  const parts = Object.values(groups).map((handlersOf) => handlersOf(options));
  return Object.assign({}, ...parts) as Handlers<OperationId>;
}
