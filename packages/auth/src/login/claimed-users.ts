import type { AuthLogger, Groups, Users } from '../auth.ts';
import { AuthError } from '../errors.ts';
import type { User } from '../model.ts';
import { provisionedSource } from '../provisioning/records.ts';
import type { ClaimMapping, Claims } from '../sources/contract.ts';

export interface ClaimedUser {
  readonly user: User;
  /** The display name of this session. */
  readonly friendlyName: string | undefined;
}

/** Finds or makes the user whom verified claims describe. */
export class ClaimedUsers {
  readonly #users: Users;
  readonly #groups: Groups;
  readonly #logger: AuthLogger;
  readonly #isActive: (user: User) => Promise<boolean>;

  constructor(
    users: Users,
    groups: Groups,
    logger: AuthLogger,
    isActive: (user: User) => Promise<boolean> = () => Promise.resolve(true),
  ) {
    this.#users = users;
    this.#groups = groups;
    this.#logger = logger;
    this.#isActive = isActive;
  }

  /** The user, or the reason why there can be none. Groups of a known user are never changed. */
  async userOf(claims: Claims, mapping: ClaimMapping): Promise<ClaimedUser | string> {
    const externalId = claims[mapping.idClaim];
    if (typeof externalId !== 'string' || externalId === '') return `no claim "${mapping.idClaim}"`;
    for (const [name, value] of Object.entries(mapping.required)) {
      if (textOf(claims[name]) !== value) return `claim "${name}" is missing or has another value`;
    }
    const groups = groupsOf(claims, mapping);
    if (groups === undefined) return 'the claim of groups holds something else than names';
    const user =
      (await this.#provisioned(claims, mapping)) ?? (await this.#ensure(externalId, mapping.source, groups));
    if (typeof user === 'string') return user;
    if (!(await this.#isActive(user))) return 'the account was deactivated';
    const friendlyName = friendlyNameOf(claims, mapping);
    if (mapping.persistFriendlyName && friendlyName !== undefined && friendlyName !== user.friendlyName) {
      await this.#users.setFriendlyName(user.username, friendlyName, { username: mapping.source });
    }
    return { user, friendlyName };
  }

  /** Somebody whom the provider has made beforehand. */
  async #provisioned(claims: Claims, { provisionedIdClaim }: ClaimMapping): Promise<User | undefined> {
    const externalId = provisionedIdClaim === undefined ? undefined : claims[provisionedIdClaim];
    if (typeof externalId !== 'string' || externalId === '') return undefined;
    const user = await this.#users.find({ externalId });
    return user?.source === provisionedSource ? user : undefined;
  }

  async #ensure(externalId: string, source: string, groups: readonly string[]): Promise<User | string> {
    const known = await this.#users.find({ externalId });
    if (known !== undefined) return known.source === source ? known : 'name belongs to another source';
    const actor = { username: source };
    let user;
    try {
      user = await this.#users.create({ username: externalId, externalId, source }, actor);
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      if (error.kind === 'invalid') return 'name cannot be a user id';
      if (error.kind !== 'already_exists') throw error;
      const winner = await this.#users.find({ externalId });
      return winner?.source === source ? winner : 'name belongs to another source';
    }
    for (const group of groups) await this.#join(group, user.username, source);
    return user;
  }

  async #join(group: string, username: string, source: string): Promise<void> {
    try {
      await this.#groups.addMember(group, username, { username: source });
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      if (error.kind === 'already_exists') return;
      if (error.kind !== 'not_found') throw error;
      this.#logger.warn({ group, user: username, source }, 'a group of a new user does not exist');
    }
  }
}

/** Undefined when the claim lists something that is no name. */
function groupsOf(claims: Claims, mapping: ClaimMapping): readonly string[] | undefined {
  const name = mapping.groupClaims.find((claim) => claims[claim] !== undefined);
  if (name === undefined) return mapping.defaultGroups;
  const value = claims[name];
  if (typeof value === 'string') {
    const names = value.split(',').map((part) => part.trim());
    return names.filter((part) => part !== '');
  }
  if (!Array.isArray(value)) return [];
  const names: readonly unknown[] = value;
  return names.every((item) => typeof item === 'string') ? names : undefined;
}

function friendlyNameOf(claims: Claims, mapping: ClaimMapping): string | undefined {
  const name = mapping.friendlyNameClaims.find((claim) => claims[claim] !== undefined);
  const value = name === undefined ? undefined : claims[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function textOf(claim: unknown): string | undefined {
  if (typeof claim === 'string') return claim;
  return typeof claim === 'number' || typeof claim === 'boolean' ? String(claim) : undefined;
}
