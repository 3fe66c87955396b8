import type { Groups } from '../../auth.ts';
import { AuthError } from '../../errors.ts';
import { checkId } from '../../id-rules.ts';
import type { AclPermission, AuthActor, Group, Page, PageRequest, Policy, User } from '../../model.ts';
import { aclPolicyId, aclStatements, isAclPermission } from '../../rbac/acl.ts';
import type { DirectoryContext } from '../../rbac/directory.ts';
import { groupNotFound, policyNotFound } from '../../rbac/refusals.ts';
import { type AuthorizationClient, segment } from './client.ts';
import { readGroup, readPolicy, readUser, writePolicy } from './wire.ts';

const absent = groupNotFound;

/** Groups of the authorization service. */
export class RemoteGroups implements Groups {
  readonly #client: AuthorizationClient;
  readonly #context: DirectoryContext;

  constructor(client: AuthorizationClient, context: DirectoryContext) {
    this.#client = client;
    this.#context = context;
  }

  async create(
    group: { readonly id: string; readonly description?: string | undefined },
    actor: AuthActor,
  ): Promise<Group> {
    checkId('Group', group.id);
    segment(group.id);
    const { id, description } = group;
    const body = { id, ...(description !== undefined && { description }) };
    const created = readGroup(await this.#client.ask('POST', '/auth/groups', 201, { body }));
    this.#context.log(actor, 'group created', { group: id });
    return created;
  }

  async get(id: string): Promise<Group> {
    return readGroup(await this.#client.ask('GET', pathOf(id), 200, { absent }));
  }

  list(page: PageRequest = {}): Promise<Page<Group>> {
    return this.#client.page('/auth/groups', page, readGroup);
  }

  async delete(id: string, actor: AuthActor): Promise<void> {
    await this.#client.ask('DELETE', pathOf(id), 204, { absent });
    await this.#context.changes.policies();
    this.#context.log(actor, 'group deleted', { group: id });
  }

  members(id: string, page: PageRequest = {}): Promise<Page<User>> {
    return this.#client.page(`${pathOf(id)}/members`, page, readUser, { absent });
  }

  async addMember(id: string, username: string, actor: AuthActor): Promise<void> {
    await this.#client.ask('PUT', memberPath(id, username), 201, { absent });
    await this.#context.changes.policies(username);
    this.#context.log(actor, 'member added', { group: id, user: username });
  }

  async removeMember(id: string, username: string, actor: AuthActor): Promise<void> {
    await this.#client.ask('DELETE', memberPath(id, username), 204, { absent });
    await this.#context.changes.policies(username);
    this.#context.log(actor, 'member removed', { group: id, user: username });
  }

  policies(id: string, page: PageRequest = {}): Promise<Page<Policy>> {
    return this.#client.page(`${pathOf(id)}/policies`, page, readPolicy, { absent });
  }

  async attachPolicy(id: string, policyId: string, actor: AuthActor): Promise<void> {
    await this.#client.ask('PUT', policyPath(id, policyId), 201, { absent: policyNotFound });
    await this.#context.changes.policies();
    this.#context.log(actor, 'policy attached to group', { group: id, policy: policyId });
  }

  async detachPolicy(id: string, policyId: string, actor: AuthActor): Promise<void> {
    await this.#client.ask('DELETE', policyPath(id, policyId), 204, { absent: policyNotFound });
    await this.#context.changes.policies();
    this.#context.log(actor, 'policy detached from group', { group: id, policy: policyId });
  }

  async acl(id: string): Promise<AclPermission | ''> {
    const { results } = await this.policies(id, { amount: 2 });
    const [first, second] = results;
    if (first === undefined) return '';
    if (second === undefined && first.acl !== undefined) return first.acl;
    throw new AuthError('no_acl', `group "${id}" has policies of its own and no access level`);
  }

  async setAcl(id: string, permission: string, actor: AuthActor): Promise<void> {
    await this.get(id);
    if (!isAclPermission(permission)) {
      throw new AuthError('invalid', `validation error: Bad ACL permission "${permission}"`);
    }
    const policyId = aclPolicyId(id);
    const body = writePolicy({ id: policyId, statement: aclStatements(permission), acl: permission });
    const path = `/auth/policies/${segment(policyId)}`;
    const exists = (await this.#client.askFor(path)) !== undefined;
    if (exists) await this.#client.ask('PUT', path, 200, { body });
    else await this.#client.ask('POST', '/auth/policies', 201, { body });
    const attached = await this.#client.all(`${pathOf(id)}/policies`, readPolicy, { absent });
    if (!attached.some((policy) => policy.id === policyId)) await this.attachPolicy(id, policyId, actor);
    for (const other of attached) {
      if (other.id !== policyId) await this.detachPolicy(id, other.id, actor);
    }
    await this.#context.changes.policies();
    this.#context.log(actor, 'access level set', { group: id, permission });
  }
}

function pathOf(id: string): string {
  return `/auth/groups/${segment(id)}`;
}

function memberPath(id: string, username: string): string {
  return `${pathOf(id)}/members/${segment(username)}`;
}

function policyPath(id: string, policyId: string): string {
  return `${pathOf(id)}/policies/${segment(policyId)}`;
}
