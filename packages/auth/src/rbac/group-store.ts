import { groupMessage, policyMessage, userMessage, type GroupData } from '@svc/encoding';
import type { Groups } from '../auth.ts';
import { AuthError } from '../errors.ts';
import { checkId } from '../id-rules.ts';
import type { AclPermission, AuthActor, Group, Page, PageRequest, Policy, User } from '../model.ts';
import { keys } from '../store/keys.ts';
import { groupFrom, policyData, policyFrom, storedTime, userFrom } from '../store/records.ts';
import { aclPolicyId, aclStatements, isAclPermission } from './acl.ts';
import { attach, detach } from './attachments.ts';
import { changeEvent, logChange, type RbacContext } from './context.ts';
import { pageAmount, scanOf, takePage } from './paging.ts';
import { alreadyExists, groupNotFound, userNotFound } from './refusals.ts';

/**
 * A membership is two entries: `uGroups` grants, `gUsers` lists. The granting one is written last and removed
 * first, so that a grant is never left that the group does not know of.
 */
export class GroupStore implements Groups {
  readonly #context: RbacContext;

  constructor(context: RbacContext) {
    this.#context = context;
  }

  async create(
    group: { readonly id: string; readonly description?: string | undefined },
    actor: AuthActor,
  ): Promise<Group> {
    checkId('Group', group.id);
    const { store, clock } = this.#context;
    const record: GroupData = {
      createdAt: storedTime(clock),
      displayName: group.id,
      description: group.description ?? '',
    };
    const event = changeEvent(actor, 'group.created', `group/${group.id}`);
    if (!(await store.create(groupMessage, keys.group(group.id), record, event))) throw alreadyExists();
    logChange(this.#context, actor, 'group created', { group: group.id });
    return groupFrom(record);
  }

  async get(id: string): Promise<Group> {
    const data = await this.#context.store.get(groupMessage, keys.group(id));
    if (data === undefined) throw groupNotFound();
    return groupFrom(data);
  }

  async list(page: PageRequest = {}): Promise<Page<Group>> {
    const amount = pageAmount(page);
    return takePage(
      this.#context.store.entries(keys.groups, scanOf(page, amount)),
      amount,
      ({ name }) => name,
      ({ value }) => groupFrom(groupMessage.decode(value)),
    );
  }

  async delete(id: string, actor: AuthActor): Promise<void> {
    const { store, changes } = this.#context;
    await this.get(id);
    for (const username of await store.names(keys.groupUsers(id))) {
      await store.delete(keys.userGroups(username) + id);
      await store.delete(keys.groupUsers(id) + username);
    }
    for (const policy of await store.names(keys.groupPolicies(id))) {
      await store.delete(keys.groupPolicies(id) + policy);
    }
    await store.delete(keys.provisionedGroups + id);
    await store.delete(keys.group(id), changeEvent(actor, 'group.deleted', `group/${id}`));
    await changes.policies();
    logChange(this.#context, actor, 'group deleted', { group: id });
  }

  async members(id: string, page: PageRequest = {}): Promise<Page<User>> {
    const { store } = this.#context;
    await this.get(id);
    const amount = pageAmount(page);
    return takePage(
      store.entries(keys.groupUsers(id), scanOf(page, amount)),
      amount,
      ({ name }) => name,
      async ({ name }) => {
        if (!(await store.exists(keys.userGroups(name) + id))) return undefined;
        const user = await store.get(userMessage, keys.user(name));
        return user === undefined ? undefined : userFrom(user);
      },
    );
  }

  async addMember(id: string, username: string, actor: AuthActor): Promise<void> {
    const { store, changes } = this.#context;
    await this.get(id);
    if (!(await store.exists(keys.user(username)))) throw userNotFound();
    await store.setIndex(keys.groupUsers(id) + username, keys.user(username));
    const event = changeEvent(actor, 'group.member_added', `group/${id}`, { member: username });
    if (!(await store.createIndex(keys.userGroups(username) + id, keys.group(id), event)))
      throw alreadyExists();
    if (!(await store.exists(keys.group(id))) || !(await store.exists(keys.user(username)))) {
      await store.delete(keys.userGroups(username) + id);
      await store.delete(keys.groupUsers(id) + username);
      throw groupNotFound();
    }
    await changes.policies(username);
    logChange(this.#context, actor, 'member added', { group: id, user: username });
  }

  async removeMember(id: string, username: string, actor: AuthActor): Promise<void> {
    const { store, changes } = this.#context;
    await this.get(id);
    if (!(await store.exists(keys.user(username)))) throw userNotFound();
    const event = changeEvent(actor, 'group.member_removed', `group/${id}`, { member: username });
    await store.delete(keys.userGroups(username) + id, event);
    await store.delete(keys.groupUsers(id) + username);
    await changes.policies(username);
    logChange(this.#context, actor, 'member removed', { group: id, user: username });
  }

  async policies(id: string, page: PageRequest = {}): Promise<Page<Policy>> {
    const { store } = this.#context;
    await this.get(id);
    const amount = pageAmount(page);
    return takePage(
      store.entries(keys.groupPolicies(id), scanOf(page, amount)),
      amount,
      ({ name }) => name,
      async ({ name }) => {
        const policy = await store.get(policyMessage, keys.policy(name));
        return policy === undefined ? undefined : policyFrom(policy);
      },
    );
  }

  async attachPolicy(id: string, policyId: string, actor: AuthActor): Promise<void> {
    await this.get(id);
    const event = changeEvent(actor, 'group.attached', `group/${id}`, { policy: policyId });
    const attachment = { owner: keys.group(id), folder: keys.groupPolicies(id), policyId };
    await attach(this.#context.store, attachment, event);
    await this.#context.changes.policies();
    logChange(this.#context, actor, 'policy attached to group', { group: id, policy: policyId });
  }

  async detachPolicy(id: string, policyId: string, actor: AuthActor): Promise<void> {
    await this.get(id);
    const event = changeEvent(actor, 'group.detached', `group/${id}`, { policy: policyId });
    await detach(this.#context.store, keys.groupPolicies(id), policyId, event);
    await this.#context.changes.policies();
    logChange(this.#context, actor, 'policy detached from group', { group: id, policy: policyId });
  }

  async acl(id: string): Promise<AclPermission | ''> {
    const { results } = await this.policies(id, { amount: 2 });
    const [first, second] = results;
    if (first === undefined) return '';
    if (second === undefined && first.acl !== undefined) return first.acl;
    throw new AuthError('no_acl', `group "${id}" has policies of its own and no access level`);
  }

  async setAcl(id: string, permission: string, actor: AuthActor): Promise<void> {
    const { store, clock, changes } = this.#context;
    await this.get(id);
    if (!isAclPermission(permission)) {
      throw new AuthError('invalid', `validation error: Bad ACL permission "${permission}"`);
    }
    const policyId = aclPolicyId(id);
    const existing = await store.get(policyMessage, keys.policy(policyId));
    const policy = { id: policyId, statement: aclStatements(permission), acl: permission };
    const data = policyData(policy, existing?.createdAt ?? storedTime(clock));
    await store.write(
      policyMessage,
      keys.policy(policyId),
      data,
      existing === undefined ? 'absent' : 'present',
      changeEvent(actor, 'group.updated', `group/${id}`, { permission }),
    );
    await store.setIndex(keys.groupPolicies(id) + policyId, keys.policy(policyId));
    for (const attached of await store.names(keys.groupPolicies(id))) {
      if (attached !== policyId) await store.delete(keys.groupPolicies(id) + attached);
    }
    await changes.policies();
    logChange(this.#context, actor, 'access level set', { group: id, permission });
  }
}
