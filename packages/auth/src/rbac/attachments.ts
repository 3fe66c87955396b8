import type { NewEvent } from '@svc/encoding';
import type { AuthStore } from '../store/auth-store.ts';
import { keys } from '../store/keys.ts';
import { alreadyExists, policyNotFound } from './refusals.ts';

/**
 * Attaches a policy below `folder`, whose owner has the record `owner`. Both are looked at again afterwards:
 * one deleted meanwhile must not leave a grant behind for its successor.
 */
export async function attach(
  store: AuthStore,
  attachment: { readonly owner: string; readonly folder: string; readonly policyId: string },
  event: NewEvent,
): Promise<void> {
  const { owner, folder, policyId } = attachment;
  const policy = keys.policy(policyId);
  if (!(await store.exists(policy))) throw policyNotFound();
  if (!(await store.createIndex(folder + policyId, policy, event))) throw alreadyExists();
  if ((await store.exists(policy)) && (await store.exists(owner))) return;
  await store.delete(folder + policyId);
  throw policyNotFound();
}

export async function detach(
  store: AuthStore,
  folder: string,
  policyId: string,
  event: NewEvent,
): Promise<void> {
  if (!(await store.exists(keys.policy(policyId)))) throw policyNotFound();
  await store.delete(folder + policyId, event);
}
