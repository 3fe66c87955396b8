import type { OperationId } from '@svc/contract';
import type { Handlers } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { authGroupHandlers } from './auth-groups.ts';
import { authPolicyHandlers } from './auth-policies.ts';
import { authUserHandlers } from './auth-users.ts';
import { authHandlers } from './auth.ts';
import { branchHandlers } from './branches.ts';
import { configHandlers } from './config.ts';
import { garbageCollectionHandlers } from './garbage-collection.ts';
import { importHandlers } from './import.ts';
import { internalRepositoryHandlers } from './internal-repositories.ts';
import { internalHandlers } from './internal.ts';
import { metadataHandlers } from './metadata.ts';
import { notAvailableHandlers } from './not-available.ts';
import { objectHandlers } from './objects.ts';
import { pullHandlers } from './pulls.ts';
import { refHandlers } from './refs.ts';
import { repositoryHandlers } from './repositories.ts';
import { stagingHandlers } from './staging.ts';
import { tagHandlers } from './tags.ts';

/** One handler per operation of the contract; a missing one does not compile. */
export function createHandlers(options: ApiOptions): Handlers<OperationId> {
  return {
    ...internalHandlers(options),
    ...internalRepositoryHandlers(options),
    ...garbageCollectionHandlers(options),
    ...configHandlers(options),
    ...authHandlers(options),
    ...authUserHandlers(options),
    ...authGroupHandlers(options),
    ...authPolicyHandlers(options),
    ...repositoryHandlers(options),
    ...branchHandlers(options),
    ...tagHandlers(options),
    ...refHandlers(options),
    ...objectHandlers(options),
    ...stagingHandlers(options),
    ...importHandlers(options),
    ...metadataHandlers(options),
    ...pullHandlers(options),
    ...notAvailableHandlers(),
  };
}
