import type { AuthStore } from '../store/auth-store.ts';
import { base64url, keys } from '../store/keys.ts';
import type { ProvisionedGroup, ProvisionedUser } from './contract.ts';

/** `source` of users whom an identity provider made. */
export const provisionedSource = 'scim';

export type StoredUser = Omit<ProvisionedUser, 'id'>;
export type StoredGroup = Omit<ProvisionedGroup, 'id'>;

/** Names of people are compared without regard to case. */
export function nameKey(userName: string): string {
  return keys.provisionedNames + base64url(userName.toLowerCase());
}

export async function storedUser(store: AuthStore, id: string): Promise<StoredUser | undefined> {
  const text = await store.text(keys.provisionedUsers + id);
  return text === undefined ? undefined : (JSON.parse(text) as StoredUser);
}

/** A user of the provider may do something only as long as the provider says so. */
export async function isActive(
  store: AuthStore,
  user: { readonly username: string; readonly source: string },
): Promise<boolean> {
  return user.source !== provisionedSource || (await storedUser(store, user.username))?.active === true;
}

/** Goes with the user. */
export async function forgetUser(store: AuthStore, id: string): Promise<void> {
  const stored = await storedUser(store, id);
  if (stored === undefined) return;
  if ((await store.text(nameKey(stored.userName))) === id) await store.delete(nameKey(stored.userName));
  await store.delete(keys.provisionedUsers + id);
}
