import type { NewUser } from '../../auth.ts';
import { checkPassword, hashPassword } from '../../crypto/password.ts';
import { checkForeignId, checkId } from '../../id-rules.ts';
import type { AuthActor, Group, Page, PageRequest, Policy, User } from '../../model.ts';
import type { DirectoryContext, DirectoryUsers } from '../../rbac/directory.ts';
import { policyNotFound, userNotFound } from '../../rbac/refusals.ts';
import { keys } from '../../store/keys.ts';
import { type AuthorizationClient, failed, segment } from './client.ts';
import { readGroup, readPasswordHash, readPolicy, readUser } from './wire.ts';

const absent = userNotFound;

/** Users of the authorization service. When their sessions ended is kept here: the service has no place for it. */
export class RemoteUsers implements DirectoryUsers {
  readonly #client: AuthorizationClient;
  readonly #context: DirectoryContext;

  constructor(client: AuthorizationClient, context: DirectoryContext) {
    this.#client = client;
    this.#context = context;
  }

  async create(user: NewUser, actor: AuthActor): Promise<User> {
    const { username, source = 'internal' } = user;
    if (source === 'internal') checkId('User', username);
    else checkForeignId(username);
    segment(username);
    await this.#client.ask('POST', '/auth/users', 201, { body: newUserBody(user) });
    await this.#context.changes.user(username);
    this.#context.log(actor, 'user created', { user: username });
    return this.get(username);
  }

  async get(username: string): Promise<User> {
    return this.#known(await this.#read(username));
  }

  async find(by: { readonly email: string } | { readonly externalId: string }): Promise<User | undefined> {
    const query = 'email' in by ? { email: by.email.toLowerCase() } : { external_id: by.externalId };
    const { results } = await this.#client.page('/auth/users', { amount: 2 }, readUser, { query });
    if (results.length > 1) throw failed('several users have the same address or external id');
    const [found] = results;
    return found === undefined ? undefined : this.#known(found);
  }

  async passwordHash(username: string): Promise<string | undefined> {
    return readPasswordHash(await this.#client.ask('GET', pathOf(username), 200, { absent }));
  }

  async list(page: PageRequest = {}): Promise<Page<User>> {
    return this.#client.page('/auth/users', page, readUser);
  }

  /** Its sessions end first: they are not for a namesake. */
  async delete(username: string, actor: AuthActor): Promise<void> {
    await this.#read(username);
    await this.#endTokens(username);
    await this.#client.ask('DELETE', pathOf(username), 204, { absent });
    const { store, changes } = this.#context;
    for (const id of await store.names(keys.sessions(username)))
      await store.delete(keys.sessions(username) + id);
    await changes.user(username);
    await changes.policies(username);
    // Which keys it had, only the service knows.
    await changes.credential();
    this.#context.log(actor, 'user deleted', { user: username });
  }

  groups(username: string, page: PageRequest = {}): Promise<Page<Group>> {
    return this.#client.page(`${pathOf(username)}/groups`, page, readGroup, { absent });
  }

  policies(
    username: string,
    page: PageRequest & { readonly effective?: boolean | undefined } = {},
  ): Promise<Page<Policy>> {
    const query = { effective: page.effective === true ? true : undefined };
    return this.#client.page(`${pathOf(username)}/policies`, page, readPolicy, { query, absent });
  }

  async attachPolicy(username: string, policyId: string, actor: AuthActor): Promise<void> {
    await this.#client.ask('PUT', policyPath(username, policyId), 201, { absent: policyNotFound });
    await this.#context.changes.policies(username);
    this.#context.log(actor, 'policy attached to user', { user: username, policy: policyId });
  }

  async detachPolicy(username: string, policyId: string, actor: AuthActor): Promise<void> {
    await this.#client.ask('DELETE', policyPath(username, policyId), 204, { absent: policyNotFound });
    await this.#context.changes.policies(username);
    this.#context.log(actor, 'policy detached from user', { user: username, policy: policyId });
  }

  async setPassword(username: string, password: string, actor: AuthActor): Promise<void> {
    checkPassword(password);
    const encryptedPassword = Buffer.from(await hashPassword(password)).toString('base64');
    await this.#client.ask('PUT', `${pathOf(username)}/password`, 200, {
      body: { encryptedPassword },
      absent,
    });
    await this.#endTokens(username);
    this.#context.log(actor, 'password changed', { user: username });
  }

  async endSessions(username: string, actor: AuthActor): Promise<void> {
    await this.#read(username);
    await this.#endTokens(username);
    this.#context.log(actor, 'sessions ended', { user: username });
  }

  async setFriendlyName(username: string, friendlyName: string, actor: AuthActor): Promise<void> {
    const body = { friendly_name: friendlyName };
    await this.#client.ask('PUT', `${pathOf(username)}/friendly_name`, 204, { body, absent });
    await this.#context.changes.user(username);
    this.#context.log(actor, 'user renamed', { user: username });
  }

  async #read(username: string): Promise<User> {
    return readUser(await this.#client.ask('GET', pathOf(username), 200, { absent }));
  }

  async #known(user: User): Promise<User> {
    const ended = Number((await this.#context.store.text(keys.endedTokens(user.username))) ?? 0);
    // One that was deleted at the service and made anew does not inherit sessions.
    const tokensValidAfter = Math.max(ended, user.source === 'internal' ? user.createdAt : 0);
    return { ...user, ...(tokensValidAfter > 0 && { tokensValidAfter }) };
  }

  /** Whole seconds, as tokens have: one issued in this second is refused too. */
  async #endTokens(username: string): Promise<void> {
    const { store, clock, changes } = this.#context;
    const key = keys.endedTokens(username);
    const nextSecond = Math.floor(clock() / 1000) + 1;
    for (;;) {
      const stored = await store.textStored(key);
      const after = Math.max(nextSecond, Number(stored?.record ?? 0) + 1);
      if (await store.setTextIf(key, String(after), stored?.predicate ?? 'absent')) break;
    }
    await changes.user(username);
  }
}

export function newUserBody({ username, email, friendlyName, source, externalId }: NewUser): object {
  return {
    username,
    ...(email !== undefined && { email }),
    ...(friendlyName !== undefined && { friendlyName }),
    source: source ?? 'internal',
    ...(externalId !== undefined && { external_id: externalId }),
  };
}

function pathOf(username: string): string {
  return `/auth/users/${segment(username)}`;
}

function policyPath(username: string, policyId: string): string {
  return `${pathOf(username)}/policies/${segment(policyId)}`;
}
