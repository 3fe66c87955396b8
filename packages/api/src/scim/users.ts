import type { Profile, ProvisionedUser } from '@svc/auth';
import { isObject, member, optionalText, truth, type JsonObject } from './json.ts';
import { changesOf, type Change } from './patch.ts';
import { invalid } from './scim-error.ts';

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';

export function userView(user: ProvisionedUser, base: string): object {
  const { id, userName, externalId, displayName, givenName, familyName, email, active } = user;
  const name = { givenName, familyName };
  return {
    schemas: [userSchema],
    id,
    externalId,
    userName,
    ...((givenName ?? familyName) !== undefined && { name }),
    displayName,
    ...(email !== undefined && { emails: [{ value: email, type: 'work', primary: true }] }),
    active,
    meta: {
      resourceType: 'User',
      created: new Date(user.createdAt).toISOString(),
      lastModified: new Date(user.changedAt).toISOString(),
      location: `${base}/Users/${encodeURIComponent(id)}`,
    },
  };
}

/** A whole person as a provider sends it; attributes that are not kept are passed over. */
export function profileOf(body: JsonObject): Profile {
  const userName = optionalText(member(body, 'userName'), 'userName');
  if (userName === undefined) throw invalid('invalidValue', 'userName is missing');
  const name = member(body, 'name');
  const names = isObject(name) ? name : {};
  const active = member(body, 'active');
  return {
    userName,
    externalId: optionalText(member(body, 'externalId'), 'externalId'),
    displayName:
      optionalText(member(body, 'displayName'), 'displayName') ??
      optionalText(member(names, 'formatted'), 'name.formatted'),
    givenName: optionalText(member(names, 'givenName'), 'name.givenName'),
    familyName: optionalText(member(names, 'familyName'), 'name.familyName'),
    email: addressIn(member(body, 'emails')),
    active: active === undefined || active === null ? true : truth(active, 'active'),
  };
}

/** What becomes of a person by a patch. */
export function patched(user: Profile, body: JsonObject): Profile {
  return changesOf(body).reduce(applied, user);
}

const texts: Readonly<Record<string, keyof Profile>> = {
  username: 'userName',
  externalid: 'externalId',
  displayname: 'displayName',
  'name.givenname': 'givenName',
  'name.familyname': 'familyName',
  'emails.value': 'email',
};

function applied(user: Profile, { op, path, value }: Change): Profile {
  const isRemoval = op === 'remove';
  if (path === 'active') return { ...user, active: isRemoval ? false : truth(only(value), 'active') };
  if (path === 'emails') return { ...user, email: isRemoval ? undefined : addressIn(value) };
  if (path === 'name' && isObject(value)) {
    const parts = Object.entries(value).map(([part, of]): Change => {
      return { op, path: `name.${part.toLowerCase()}`, selected: undefined, value: of };
    });
    return parts.reduce(applied, user);
  }
  const key = texts[path];
  // Whatever else a provider says about people is not kept here.
  if (key === undefined) return user;
  const text = isRemoval ? undefined : optionalText(only(value), path);
  if (key === 'userName' && text === undefined) throw invalid('invalidValue', 'userName is missing');
  return { ...user, [key]: text };
}

/** One value may come as a list of one. */
function only(value: unknown): unknown {
  const [first, second] = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  if (second !== undefined) throw invalid('invalidValue', 'one value is expected');
  return isObject(first) && 'value' in first ? first['value'] : first;
}

/** The address that is marked as primary, else the first. */
function addressIn(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw invalid('invalidValue', 'emails must be a list');
  const addresses = value.filter(isObject);
  const chosen = addresses.find((address) => member(address, 'primary') === true) ?? addresses[0];
  return chosen === undefined ? undefined : optionalText(member(chosen, 'value'), 'emails.value');
}
