import { arn, one, type Auth, type ClientOrigin, type Identity, type Requirement } from '@svc/auth';
import { scopeOf, type EventScope, type MayRead } from '@svc/events';

/** Which events somebody may read right now. */
export async function eventPermission(
  auth: Pick<Auth, 'permissionsOf'>,
  identity: Identity,
  client: ClientOrigin,
): Promise<MayRead> {
  const permissions = await auth.permissionsOf(identity, client);
  const known = new Map<string, boolean>();
  return (event) => {
    const scope = scopeOf(event);
    const name = `${scope.kind} ${scope.repository ?? ''} ${scope.name}`;
    const allowed = known.get(name) ?? permissions.check(requirementOfScope(scope)).allowed;
    known.set(name, allowed);
    return allowed;
  };
}

/** What must be allowed for an event to be shown. */
function requirementOfScope({ kind, repository, name }: EventScope): Requirement {
  switch (kind) {
    case 'branch':
      return one('fs:ReadBranch', arn.branch(repository ?? '', name));
    case 'tag':
      return one('fs:ReadTag', arn.tag(repository ?? '', name));
    case 'pull':
      return one('pr:ReadPullRequest', arn.repository(repository ?? ''));
    case 'repository':
      return one('fs:ReadRepository', arn.repository(repository ?? ''));
    case 'alias':
      return one('fs:ReadAlias', `arn:svc:fs:::alias/${name}`);
    case 'user':
      return one('auth:ReadUser', arn.user(name));
    case 'group':
      return one('auth:ReadGroup', arn.group(name));
    case 'policy':
      return one('auth:ReadPolicy', arn.policy(name));
    case 'subscription':
      return one('fs:ReadSubscription', repository === undefined ? arn.all : arn.repository(repository));
  }
}
