import { hash, timingSafeEqual } from 'node:crypto';
import { authenticationFailed, AuthError } from '../errors.ts';
import type { ClientOrigin } from '../identity.ts';
import { checkId, isEmailAddress } from '../id-rules.ts';
import { tooManyFailures, type FailureLimits } from '../login/failure-limits.ts';
import type { SessionStore } from '../login/session-store.ts';
import { maxPerPage, type AuthActor } from '../model.ts';
import type { RbacContext } from '../rbac/context.ts';
import type { CredentialStore } from '../rbac/credential-store.ts';
import type { GroupStore } from '../rbac/group-store.ts';
import { alreadyExists, groupNotFound, userNotFound } from '../rbac/refusals.ts';
import type { UserStore } from '../rbac/user-store.ts';
import { keys } from '../store/keys.ts';
import type {
  MemberChange,
  Profile,
  ProvisionedGroup,
  ProvisionedUser,
  Provisioning,
  Slice,
  SliceRequest,
} from './contract.ts';
import { nameKey, provisionedSource, storedUser, type StoredGroup, type StoredUser } from './records.ts';

interface ProvisionedParts {
  readonly context: RbacContext;
  readonly users: UserStore;
  readonly groups: GroupStore;
  readonly credentials: CredentialStore;
  readonly sessions: SessionStore;
  readonly limits: FailureLimits;
  /** `auth.scim.token`. */
  readonly token: string;
}

/** The name under which wrong tokens are counted. */
const guessed = 'scim token';

/**
 * People and groups of an identity provider. What it says is kept beside the user or group, written before the user is
 * there and removed after it is gone: a user of the provider without such a record may do nothing.
 */
export class Provisioned implements Provisioning {
  readonly #parts: ProvisionedParts;

  constructor(parts: ProvisionedParts) {
    this.#parts = parts;
  }

  authenticate(authorization: string | undefined, client: ClientOrigin): void {
    const { limits, token } = this.#parts;
    const wait = limits.exceededGuess(client.ip, guessed);
    if (wait !== undefined) throw tooManyFailures(wait);
    const [, shown = ''] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    if (timingSafeEqual(hash('sha256', shown, 'buffer'), hash('sha256', token, 'buffer'))) return;
    if (shown !== '') limits.guessFailed(client.ip, guessed);
    throw authenticationFailed();
  }

  async createUser(profile: Profile, actor: AuthActor): Promise<ProvisionedUser> {
    const { context, users } = this.#parts;
    const { store, clock } = context;
    const id = profile.userName;
    checkId('User', id);
    checkProfile(profile);
    if (await store.exists(keys.user(id))) throw alreadyExists();
    await this.#claimName(id, id);
    const record: StoredUser = { ...profile, createdAt: clock(), changedAt: clock() };
    await store.setText(keys.provisionedUsers + id, JSON.stringify(record));
    const { email, externalId, displayName: friendlyName } = profile;
    await users.create({ username: id, source: provisionedSource, email, externalId, friendlyName }, actor);
    return { id, ...record };
  }

  async getUser(id: string): Promise<ProvisionedUser> {
    return { id, ...(await this.#user(id)) };
  }

  async findUser(
    by: { readonly userName: string } | { readonly externalId: string },
  ): Promise<ProvisionedUser | undefined> {
    const { context, users } = this.#parts;
    const id =
      'userName' in by ? await context.store.text(nameKey(by.userName)) : (await users.find(by))?.username;
    if (id === undefined) return undefined;
    try {
      return await this.getUser(id);
    } catch (error) {
      if (error instanceof AuthError && error.kind === 'not_found') return undefined;
      throw error;
    }
  }

  listUsers(slice: SliceRequest): Promise<Slice<ProvisionedUser>> {
    return this.#slice<StoredUser>(keys.provisionedUsers, slice);
  }

  async replaceUser(id: string, profile: Profile, actor: AuthActor): Promise<ProvisionedUser> {
    const { context, users, credentials, sessions } = this.#parts;
    const { store, clock, changes } = context;
    checkProfile(profile);
    const before = await this.#user(id);
    const isRenamed = nameKey(before.userName) !== nameKey(profile.userName);
    if (isRenamed) await this.#claimName(profile.userName, id);
    const { email, externalId, displayName: friendlyName } = profile;
    await users.setProfile(id, { email, externalId, friendlyName }, actor);
    const record: StoredUser = { ...profile, createdAt: before.createdAt, changedAt: clock() };
    await store.setText(keys.provisionedUsers + id, JSON.stringify(record));
    await changes.user(id);
    if (isRenamed) await store.delete(nameKey(before.userName));
    if (!profile.active) {
      await sessions.endAll(id, actor);
      for (const key of await store.names(keys.userCredentials(id))) await credentials.delete(id, key, actor);
    }
    return { id, ...record };
  }

  async deleteUser(id: string, actor: AuthActor): Promise<void> {
    await this.#user(id);
    await this.#parts.users.delete(id, actor);
  }

  async createGroup(
    { id, externalId }: { readonly id: string; readonly externalId?: string | undefined },
    actor: AuthActor,
  ): Promise<ProvisionedGroup> {
    const { context, groups } = this.#parts;
    await groups.create({ id }, actor);
    const record: StoredGroup = { externalId, createdAt: context.clock(), changedAt: context.clock() };
    await context.store.setText(keys.provisionedGroups + id, JSON.stringify(record));
    return { id, ...record };
  }

  async getGroup(id: string): Promise<ProvisionedGroup> {
    const text = await this.#parts.context.store.text(keys.provisionedGroups + id);
    if (text === undefined) throw groupNotFound();
    return { id, ...(JSON.parse(text) as StoredGroup) };
  }

  listGroups(slice: SliceRequest): Promise<Slice<ProvisionedGroup>> {
    return this.#slice<StoredGroup>(keys.provisionedGroups, slice);
  }

  async setExternalId(id: string, externalId: string | undefined): Promise<ProvisionedGroup> {
    const { store, clock } = this.#parts.context;
    const { createdAt } = await this.getGroup(id);
    const record: StoredGroup = { externalId, createdAt, changedAt: clock() };
    await store.setText(keys.provisionedGroups + id, JSON.stringify(record));
    return { id, ...record };
  }

  async deleteGroup(id: string, actor: AuthActor): Promise<void> {
    await this.getGroup(id);
    await this.#parts.groups.delete(id, actor);
  }

  async members(id: string): Promise<readonly { readonly id: string; readonly userName: string }[]> {
    const { context, groups } = this.#parts;
    await this.getGroup(id);
    const members = [];
    for (let after = '', hasMore = true; hasMore;) {
      const page = await groups.members(id, { after, amount: maxPerPage });
      for (const { username, source } of page.results) {
        const known = source === provisionedSource ? await storedUser(context.store, username) : undefined;
        if (known !== undefined) members.push({ id: username, userName: known.userName });
      }
      ({ hasMore, nextOffset: after } = page);
    }
    return members;
  }

  async changeMembers(id: string, change: MemberChange, actor: AuthActor): Promise<void> {
    const { groups } = this.#parts;
    const present = new Set((await this.members(id)).map((member) => member.id));
    const add = new Set([...(change.add ?? []), ...(change.only ?? [])].filter((name) => !present.has(name)));
    const leaving = change.only === undefined ? (change.remove ?? []) : [...present];
    const remove = new Set(
      leaving.filter((name) => present.has(name) && change.only?.includes(name) !== true),
    );
    // Nobody joins unless everybody may.
    for (const username of add) await this.#user(username);
    for (const username of remove) await groups.removeMember(id, username, actor);
    for (const username of add) await groups.addMember(id, username, actor);
  }

  async #user(id: string): Promise<StoredUser> {
    const { users, context } = this.#parts;
    const { source } = await users.get(id);
    const stored = await storedUser(context.store, id);
    if (stored === undefined || source !== provisionedSource) throw userNotFound();
    return stored;
  }

  /** A name that somebody left behind may be taken over. */
  async #claimName(userName: string, id: string): Promise<void> {
    const { store } = this.#parts.context;
    const key = nameKey(userName);
    const owner = await store.text(key);
    const isTaken = owner !== undefined && owner !== id && (await store.exists(keys.user(owner)));
    if (isTaken) throw alreadyExists();
    if (owner !== undefined) await store.setText(key, id);
    else if (!(await store.setTextIf(key, id, 'absent'))) throw alreadyExists();
  }

  async #slice<T extends object>(
    folder: string,
    { from, count }: SliceRequest,
  ): Promise<Slice<T & { id: string }>> {
    const results: (T & { id: string })[] = [];
    let total = 0;
    for await (const { name, value } of this.#parts.context.store.entries(folder)) {
      if (total >= from && results.length < count)
        results.push({ id: name, ...(JSON.parse(value.toString()) as T) });
      total += 1;
    }
    return { total, results };
  }
}

function checkProfile({ userName, email, ...texts }: Profile): void {
  const tooLong = [userName, email ?? '', ...Object.values(texts)].some(
    (text) => typeof text === 'string' && (text.length > 256 || /\p{Cc}/u.test(text)),
  );
  if (userName === '' || tooLong)
    throw new AuthError('invalid', 'names have 1 to 256 characters, none of them a control character');
  if (email !== undefined && !isEmailAddress(email))
    throw new AuthError('invalid', `"${email}" is not an e-mail address`);
}
