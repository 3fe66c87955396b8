import { groupMessage, policyMessage } from '@svc/encoding';
import type { Policy } from '../model.ts';
import type { AuthStore } from '../store/auth-store.ts';
import { keys } from '../store/keys.ts';
import { policyFrom } from '../store/records.ts';

/** Policies attached to the user and to every group of the user, each once. */
export async function effectivePolicies(store: AuthStore, username: string): Promise<Policy[]> {
  const [direct, groups] = await Promise.all([
    store.names(keys.userPolicies(username)),
    store.names(keys.userGroups(username)),
  ]);
  const throughGroups = await Promise.all(
    groups.map(async (group) => {
      const exists = (await store.get(groupMessage, keys.group(group))) !== undefined;
      return exists ? store.names(keys.groupPolicies(group)) : [];
    }),
  );
  const ids = new Set([...direct, ...throughGroups.flat()]);
  const policies = await Promise.all([...ids].map((id) => store.get(policyMessage, keys.policy(id))));
  return policies.filter((policy) => policy !== undefined).map(policyFrom);
}

export async function allPolicies(store: AuthStore): Promise<Policy[]> {
  const policies: Policy[] = [];
  for await (const { value } of store.entries(keys.policies))
    policies.push(policyFrom(policyMessage.decode(value)));
  return policies;
}
