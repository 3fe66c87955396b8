import {
  credentialMessage,
  groupMessage,
  policyMessage,
  userMessage,
  type NewEvent,
  type UserData,
} from '@svc/encoding';
import type { NewUser, Users } from '../auth.ts';
import { checkPassword, hashPassword } from '../crypto/password.ts';
import { checkForeignId, checkId } from '../id-rules.ts';
import type { AuthActor, Group, Page, PageRequest, Policy, User } from '../model.ts';
import { forgetUser, provisionedSource } from '../provisioning/records.ts';
import { keys } from '../store/keys.ts';
import { groupFrom, policyFrom, storedTime, userFrom } from '../store/records.ts';
import { attach, detach } from './attachments.ts';
import { changeEvent, logChange, type RbacContext } from './context.ts';
import { effectivePolicies } from './effective-policies.ts';
import { pageAmount, pageOf, scanOf, takePage } from './paging.ts';
import { alreadyExists, userNotFound } from './refusals.ts';

export class UserStore implements Users {
  readonly #context: RbacContext;

  constructor(context: RbacContext) {
    this.#context = context;
  }

  async create(user: NewUser, actor: AuthActor): Promise<User> {
    const { store, clock } = this.#context;
    const { username, email = '', externalId = '', source = 'internal' } = user;
    if (source === 'internal') checkId('User', username);
    else checkForeignId(username);
    const record: UserData = {
      createdAt: storedTime(clock),
      username,
      friendlyName: user.friendlyName ?? '',
      email,
      encryptedPassword: Buffer.alloc(0),
      source,
      externalId,
      // A namesake that was deleted may have left tokens. Users of other sources begin with sessions of those sources.
      tokensValidAfter: source === 'internal' ? Math.floor(clock() / 1000) : 0,
    };
    const event = changeEvent(actor, 'user.created', `user/${username}`);
    if (!(await store.create(userMessage, keys.user(username), record, event))) throw alreadyExists();
    const indexes = [
      ...(email === '' ? [] : [keys.email(email)]),
      ...(externalId === '' ? [] : [keys.externalId(externalId)]),
    ];
    for (const index of indexes) {
      if (await this.#claimIndex(index, username)) continue;
      await this.delete(username, actor);
      throw alreadyExists();
    }
    await this.#context.changes.user(username);
    logChange(this.#context, actor, 'user created', { user: username });
    return userFrom(record);
  }

  async get(username: string): Promise<User> {
    return userFrom(await this.#data(username));
  }

  async find(by: { readonly email: string } | { readonly externalId: string }): Promise<User | undefined> {
    const index = 'email' in by ? keys.email(by.email) : keys.externalId(by.externalId);
    const target = await this.#context.store.target(index);
    const data = target === undefined ? undefined : await this.#context.store.get(userMessage, target);
    return data === undefined ? undefined : userFrom(data);
  }

  /** The stored form of the password, for whoever verifies one. */
  async passwordHash(username: string): Promise<string | undefined> {
    const data = await this.#context.store.get(userMessage, keys.user(username));
    return data === undefined || data.encryptedPassword.length === 0
      ? undefined
      : data.encryptedPassword.toString();
  }

  async list(page: PageRequest = {}): Promise<Page<User>> {
    const amount = pageAmount(page);
    return takePage(
      this.#context.store.entries(keys.users, scanOf(page, amount)),
      amount,
      ({ name }) => name,
      ({ value }) => userFrom(userMessage.decode(value)),
    );
  }

  /**
   * A key stops working before it is forgotten, and the user goes last: whatever is interrupted can be repeated,
   * and a user created again under the same name inherits nothing.
   */
  async delete(username: string, actor: AuthActor): Promise<void> {
    const { store, changes } = this.#context;
    const data = await this.#data(username);
    for (const accessKeyId of await store.names(keys.userCredentials(username))) {
      const credential = await store.get(credentialMessage, keys.credential(accessKeyId));
      if (credential !== undefined && credential.userId.toString() === username) {
        await store.delete(keys.credential(accessKeyId));
      }
      await store.delete(keys.userCredentials(username) + accessKeyId);
      await changes.credential(accessKeyId);
    }
    for (const group of await store.names(keys.userGroups(username))) {
      await store.delete(keys.userGroups(username) + group);
      await store.delete(keys.groupUsers(group) + username);
    }
    for (const policy of await store.names(keys.userPolicies(username))) {
      await store.delete(keys.userPolicies(username) + policy);
    }
    for (const encodedId of await store.names(keys.userExternalPrincipals(username))) {
      const id = Buffer.from(encodedId, 'base64url').toString();
      if ((await store.target(keys.externalPrincipal(id))) === keys.user(username)) {
        await store.delete(keys.externalPrincipal(id));
      }
      await store.delete(keys.userExternalPrincipals(username) + encodedId);
      await changes.externalPrincipal(id);
    }
    for (const id of await store.names(keys.sessions(username)))
      await store.delete(keys.sessions(username) + id);
    if (data.email !== '') await this.#releaseIndex(keys.email(data.email), username);
    if (data.externalId !== '') await this.#releaseIndex(keys.externalId(data.externalId), username);
    await store.delete(keys.user(username), changeEvent(actor, 'user.deleted', `user/${username}`));
    if (data.source === provisionedSource) await forgetUser(store, username);
    await changes.user(username);
    await changes.policies(username);
    logChange(this.#context, actor, 'user deleted', { user: username });
  }

  async groups(username: string, page: PageRequest = {}): Promise<Page<Group>> {
    const { store } = this.#context;
    await this.#data(username);
    const amount = pageAmount(page);
    return takePage(
      store.entries(keys.userGroups(username), scanOf(page, amount)),
      amount,
      ({ name }) => name,
      async ({ name }) => {
        const group = await store.get(groupMessage, keys.group(name));
        return group === undefined ? undefined : groupFrom(group);
      },
    );
  }

  async policies(
    username: string,
    page: PageRequest & { readonly effective?: boolean | undefined } = {},
  ): Promise<Page<Policy>> {
    const { store } = this.#context;
    await this.#data(username);
    if (page.effective === true) {
      return pageOf(await effectivePolicies(store, username), (policy) => policy.id, page);
    }
    const amount = pageAmount(page);
    return takePage(
      store.entries(keys.userPolicies(username), scanOf(page, amount)),
      amount,
      ({ name }) => name,
      async ({ name }) => {
        const policy = await store.get(policyMessage, keys.policy(name));
        return policy === undefined ? undefined : policyFrom(policy);
      },
    );
  }

  async attachPolicy(username: string, policyId: string, actor: AuthActor): Promise<void> {
    await this.#data(username);
    const attachment = { owner: keys.user(username), folder: keys.userPolicies(username), policyId };
    const event = changeEvent(actor, 'user.attached', `user/${username}`, { policy: policyId });
    await attach(this.#context.store, attachment, event);
    await this.#context.changes.policies(username);
    logChange(this.#context, actor, 'policy attached to user', { user: username, policy: policyId });
  }

  async detachPolicy(username: string, policyId: string, actor: AuthActor): Promise<void> {
    await this.#data(username);
    const event = changeEvent(actor, 'user.detached', `user/${username}`, { policy: policyId });
    await detach(this.#context.store, keys.userPolicies(username), policyId, event);
    await this.#context.changes.policies(username);
    logChange(this.#context, actor, 'policy detached from user', { user: username, policy: policyId });
  }

  async setPassword(username: string, password: string, actor: AuthActor): Promise<void> {
    checkPassword(password);
    const encryptedPassword = Buffer.from(await hashPassword(password));
    const event = changeEvent(actor, 'user.updated', `user/${username}`);
    await this.#update(username, (data) => ({ ...this.#withoutSessions(data), encryptedPassword }), event);
    logChange(this.#context, actor, 'password changed', { user: username });
  }

  async endSessions(username: string, actor: AuthActor): Promise<void> {
    await this.#update(username, (data) => this.#withoutSessions(data));
    logChange(this.#context, actor, 'sessions ended', { user: username });
  }

  /** Whole seconds, as tokens have: one issued in this second is refused too, also when another change was in it. */
  #withoutSessions(data: UserData): UserData {
    const nextSecond = Math.floor(this.#context.clock() / 1000) + 1;
    return { ...data, tokensValidAfter: Math.max(nextSecond, data.tokensValidAfter + 1) };
  }

  async setFriendlyName(username: string, friendlyName: string, actor: AuthActor): Promise<void> {
    const event = changeEvent(actor, 'user.updated', `user/${username}`);
    await this.#update(username, (data) => ({ ...data, friendlyName }), event);
    logChange(this.#context, actor, 'user renamed', { user: username });
  }

  /** What the source of a user says about the person. Throws `already_exists` when it is somebody else's. */
  async setProfile(
    username: string,
    {
      friendlyName = '',
      email = '',
      externalId = '',
    }: {
      readonly friendlyName?: string | undefined;
      readonly email?: string | undefined;
      readonly externalId?: string | undefined;
    },
    actor: AuthActor,
  ): Promise<void> {
    const before = await this.#data(username);
    const indexes = (data: { readonly email: string; readonly externalId: string }): string[] => [
      ...(data.email === '' ? [] : [keys.email(data.email)]),
      ...(data.externalId === '' ? [] : [keys.externalId(data.externalId)]),
    ];
    const [old, wanted] = [indexes(before), indexes({ email, externalId })];
    for (const index of wanted)
      if (!old.includes(index) && !(await this.#claimIndex(index, username))) throw alreadyExists();
    const event = changeEvent(actor, 'user.updated', `user/${username}`);
    await this.#update(username, (data) => ({ ...data, friendlyName, email, externalId }), event);
    for (const index of old) if (!wanted.includes(index)) await this.#releaseIndex(index, username);
    logChange(this.#context, actor, 'user changed', { user: username });
  }

  async #update(username: string, change: (data: UserData) => UserData, event?: NewEvent): Promise<void> {
    const { store, changes } = this.#context;
    for (;;) {
      const stored = await store.getStored(userMessage, keys.user(username));
      if (stored === undefined) throw userNotFound();
      const { record, predicate } = stored;
      if (await store.write(userMessage, keys.user(username), change(record), predicate, event)) break;
    }
    await changes.user(username);
  }

  async #data(username: string): Promise<UserData> {
    const data = await this.#context.store.get(userMessage, keys.user(username));
    if (data === undefined) throw userNotFound();
    return data;
  }

  /** An index left behind by a user that is gone may be taken over. */
  async #claimIndex(index: string, username: string): Promise<boolean> {
    const { store } = this.#context;
    if (await store.createIndex(index, keys.user(username))) return true;
    const owner = await store.target(index);
    if (owner !== undefined && owner !== keys.user(username) && (await store.exists(owner))) return false;
    await store.setIndex(index, keys.user(username));
    return true;
  }

  async #releaseIndex(index: string, username: string): Promise<void> {
    const { store } = this.#context;
    if ((await store.target(index)) === keys.user(username)) await store.delete(index);
  }
}
