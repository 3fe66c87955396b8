import { arn, one } from '@svc/auth';
import type { Auth, ClientOrigin, Identity } from '@svc/auth';

/** Whether the caller may read every object of a repository: who may not, may not link its data elsewhere. */
export function mayReadRepository(
  auth: Auth,
  { identity, client }: { readonly identity: Identity; readonly client: ClientOrigin },
): (repository: string) => Promise<boolean> {
  return async (repository) =>
    (await auth.authorize(identity, one('fs:ReadObject', arn.object(repository, '*')), client)).allowed;
}
