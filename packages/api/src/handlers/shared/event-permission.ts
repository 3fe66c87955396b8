import {
  and,
  arn,
  one,
  type Auth,
  type ClientOrigin,
  type Identity,
  type Permissions,
  type Requirement,
} from '@svc/auth';
import { scopeOf, type EventScope, type MayRead } from '@svc/events';

type Decisions = WeakMap<Parameters<MayRead>[0], boolean>;
/** Many streams of one user ask about the same events. */
const decisionsOn = {
  events: new WeakMap<Permissions, Decisions>(),
  objects: new WeakMap<Permissions, Decisions>(),
};

/** Which events somebody may read right now; `showsObjects` when their objects are told of as well. */
export async function eventPermission(
  auth: Pick<Auth, 'permissionsOf'>,
  identity: Identity,
  client: ClientOrigin,
  { showsObjects = false } = {},
): Promise<MayRead> {
  const permissions = await auth.permissionsOf(identity, client);
  const ofPermissions = showsObjects ? decisionsOn.objects : decisionsOn.events;
  const known: Decisions = ofPermissions.get(permissions) ?? new WeakMap();
  ofPermissions.set(permissions, known);
  const needed = (scope: EventScope): Requirement => {
    const own = requirementOfScope(scope);
    if (!showsObjects || scope.repository === undefined) return own;
    return and(own, one('fs:ListObjects', arn.repository(scope.repository)));
  };
  return (event) => {
    const decided = known.get(event);
    if (decided !== undefined) return decided;
    const { allowed } = permissions.check(needed(scopeOf(event)));
    known.set(event, allowed);
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
