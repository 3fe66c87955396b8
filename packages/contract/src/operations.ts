import { actionsOperations } from './operations/actions.ts';
import { authGroupsOperations } from './operations/auth-groups.ts';
import { authOperations } from './operations/auth.ts';
import { authPoliciesOperations } from './operations/auth-policies.ts';
import { authUsersOperations } from './operations/auth-users.ts';
import { branchesOperations } from './operations/branches.ts';
import { commitsOperations } from './operations/commits.ts';
import { configOperations } from './operations/config.ts';
import { experimentalOperations } from './operations/experimental.ts';
import { externalOperations } from './operations/external.ts';
import { healthCheckOperations } from './operations/health-check.ts';
import { importOperations } from './operations/import.ts';
import { internalGarbageCollectionOperations } from './operations/internal-garbage-collection.ts';
import { internalOperations } from './operations/internal.ts';
import { internalRepositoriesOperations } from './operations/internal-repositories.ts';
import { metadataOperations } from './operations/metadata.ts';
import { objectsOperations } from './operations/objects.ts';
import { pullsOperations } from './operations/pulls.ts';
import { refsOperations } from './operations/refs.ts';
import { repositoriesOperations } from './operations/repositories.ts';
import { stagingOperations } from './operations/staging.ts';
import { tagsOperations } from './operations/tags.ts';
import type { Operation } from './operation.ts';

/** Every operation of the API by its id. */
export const operations = {
  ...internalOperations,
  ...internalRepositoriesOperations,
  ...internalGarbageCollectionOperations,
  ...authOperations,
  ...authUsersOperations,
  ...authGroupsOperations,
  ...authPoliciesOperations,
  ...externalOperations,
  ...experimentalOperations,
  ...repositoriesOperations,
  ...tagsOperations,
  ...branchesOperations,
  ...refsOperations,
  ...commitsOperations,
  ...objectsOperations,
  ...stagingOperations,
  ...importOperations,
  ...actionsOperations,
  ...metadataOperations,
  ...pullsOperations,
  ...healthCheckOperations,
  ...configOperations,
} as const satisfies Record<string, Operation>;

export type Operations = typeof operations;
export type OperationId = keyof Operations;
