import { groupMessage, policyMessage } from '@svc/encoding';
import type { Policy } from '../model.ts';
import type { AuthStore } from '../store/auth-store.ts';
import { keys } from '../store/keys.ts';
import { policyFrom } from '../store/records.ts';

/** A policy in force for a user, and how it came to be. */
export interface HeldPolicy {
  readonly policy: Policy;
  /** Attached to the user. */
  readonly isDirect: boolean;
  /** The groups of the user that it is attached to. */
  readonly groups: readonly string[];
}

/** Policies attached to the user and to every group of the user, each once. */
export async function heldPolicies(store: AuthStore, username: string): Promise<HeldPolicy[]> {
  const [direct, groups] = await Promise.all([
    store.names(keys.userPolicies(username)),
    store.names(keys.userGroups(username)),
  ]);
  const throughGroups = await Promise.all(
    groups.map(async (group) => {
      const exists = (await store.get(groupMessage, keys.group(group))) !== undefined;
      return { group, ids: exists ? await store.names(keys.groupPolicies(group)) : [] };
    }),
  );
  const ids = new Set([...direct, ...throughGroups.flatMap((each) => each.ids)]);
  const held = await Promise.all(
    [...ids].map(async (id) => {
      const data = await store.get(policyMessage, keys.policy(id));
      if (data === undefined) return undefined;
      const givers = throughGroups.filter((each) => each.ids.includes(id)).map(({ group }) => group);
      return { policy: policyFrom(data), isDirect: direct.includes(id), groups: givers };
    }),
  );
  return held.filter((each) => each !== undefined);
}

export async function effectivePolicies(store: AuthStore, username: string): Promise<Policy[]> {
  return (await heldPolicies(store, username)).map(({ policy }) => policy);
}

export async function allPolicies(store: AuthStore): Promise<Policy[]> {
  const policies: Policy[] = [];
  for await (const { value } of store.entries(keys.policies))
    policies.push(policyFrom(policyMessage.decode(value)));
  return policies;
}
