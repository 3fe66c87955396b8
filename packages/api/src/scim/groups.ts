import type { AuthActor, ProvisionedGroup, Provisioning } from '@svc/auth';
import { isObject, member, optionalText, type JsonObject } from './json.ts';
import { changesOf, type Change } from './patch.ts';
import { invalid } from './scim-error.ts';

export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';

interface Member {
  readonly id: string;
  readonly userName: string;
}

export function groupView(
  group: ProvisionedGroup,
  members: readonly Member[] | undefined,
  base: string,
): object {
  const { id, externalId } = group;
  return {
    schemas: [groupSchema],
    id,
    externalId,
    displayName: id,
    ...(members !== undefined && {
      members: members.map((each) => ({
        value: each.id,
        display: each.userName,
        $ref: `${base}/Users/${encodeURIComponent(each.id)}`,
      })),
    }),
    meta: {
      resourceType: 'Group',
      created: new Date(group.createdAt).toISOString(),
      lastModified: new Date(group.changedAt).toISOString(),
      location: `${base}/Groups/${encodeURIComponent(id)}`,
    },
  };
}

export async function createGroup(
  directory: Provisioning,
  body: JsonObject,
  actor: AuthActor,
): Promise<ProvisionedGroup> {
  const id = optionalText(member(body, 'displayName'), 'displayName');
  if (id === undefined) throw invalid('invalidValue', 'displayName is missing');
  const members = memberIds(member(body, 'members') ?? []);
  for (const each of members) await directory.getUser(each);
  const externalId = optionalText(member(body, 'externalId'), 'externalId');
  const group = await directory.createGroup({ id, externalId }, actor);
  await directory.changeMembers(id, { add: members }, actor);
  return group;
}

export async function replaceGroup(
  directory: Provisioning,
  id: string,
  body: JsonObject,
  actor: AuthActor,
): Promise<void> {
  await directory.getGroup(id);
  refuseRename(id, member(body, 'displayName'));
  const only = memberIds(member(body, 'members') ?? []);
  await directory.changeMembers(id, { only }, actor);
  await directory.setExternalId(id, optionalText(member(body, 'externalId'), 'externalId'), actor);
}

/** All of a patch is understood before any of it is done. */
export async function patchGroup(
  directory: Provisioning,
  id: string,
  body: JsonObject,
  actor: AuthActor,
): Promise<void> {
  await directory.getGroup(id);
  const steps = changesOf(body).map((change) => stepOf(directory, id, change, actor));
  for (const step of steps) await step();
}

function stepOf(
  directory: Provisioning,
  id: string,
  { op, path, selected, value }: Change,
  actor: AuthActor,
): () => Promise<unknown> {
  const done = (): Promise<void> => Promise.resolve();
  if (path === 'displayname') {
    if (op === 'remove') throw invalid('mutability', 'a group keeps its name');
    refuseRename(id, value);
    return done;
  }
  if (path === 'externalid') {
    const externalId = op === 'remove' ? undefined : optionalText(value, 'externalId');
    return () => directory.setExternalId(id, externalId, actor);
  }
  // Whatever else a provider says about groups is not kept here.
  if (path !== 'members') return done;
  const named = selected === undefined ? memberIds(value ?? []) : [selected];
  if (op === 'add') return () => directory.changeMembers(id, { add: named }, actor);
  if (op === 'replace') return () => directory.changeMembers(id, { only: named }, actor);
  // Without a list everybody goes; an empty list names nobody.
  const isEverybody = selected === undefined && value === undefined;
  return () => directory.changeMembers(id, isEverybody ? { only: [] } : { remove: named }, actor);
}

/** Policies name groups, so a group keeps its name. */
function refuseRename(id: string, name: unknown): void {
  if (name !== undefined && name !== id)
    throw invalid('mutability', 'a group keeps its name; delete it and make another');
}

function memberIds(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.map((each) => {
    const id = isObject(each) ? member(each, 'value') : each;
    if (typeof id !== 'string' || id === '')
      throw invalid('invalidValue', 'a member must name a user by its id');
    return id;
  });
}
