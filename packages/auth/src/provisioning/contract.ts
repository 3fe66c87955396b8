import type { ClientOrigin } from '../identity.ts';
import type { AuthActor } from '../model.ts';

/** What a provider says about a person. */
export interface Profile {
  /** What the person is called there. May change; the id of the user here does not. */
  readonly userName: string;
  readonly externalId?: string | undefined;
  readonly displayName?: string | undefined;
  readonly givenName?: string | undefined;
  readonly familyName?: string | undefined;
  readonly email?: string | undefined;
  /** Whether the person may do anything at all. */
  readonly active: boolean;
}

export interface ProvisionedUser extends Profile {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly changedAt: number;
}

export interface ProvisionedGroup {
  /** Its name, which does not change. */
  readonly id: string;
  readonly externalId?: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly changedAt: number;
}

export interface Slice<T> {
  readonly total: number;
  readonly results: readonly T[];
}

/** From 0. */
export interface SliceRequest {
  readonly from: number;
  readonly count: number;
}

/** Who changes the members of a group: everybody else, or these besides. */
export interface MemberChange {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  /** In place of those there are. */
  readonly only?: readonly string[];
}

/**
 * What an identity provider keeps up to date: people and groups that it made itself. It sees and changes no others, so
 * that its token is no way to a local administrator. Throws `not_found`, `already_exists` and `invalid`.
 */
export interface Provisioning {
  /** Throws `unauthenticated` or `too_many_failures` unless the request shows the provider's token. */
  authenticate(authorization: string | undefined, client: ClientOrigin): void;
  createUser(profile: Profile, actor: AuthActor): Promise<ProvisionedUser>;
  getUser(id: string): Promise<ProvisionedUser>;
  findUser(
    by: { readonly userName: string } | { readonly externalId: string },
  ): Promise<ProvisionedUser | undefined>;
  listUsers(slice: SliceRequest): Promise<Slice<ProvisionedUser>>;
  /** Somebody who is no longer active loses sessions and keys at once. */
  replaceUser(id: string, profile: Profile, actor: AuthActor): Promise<ProvisionedUser>;
  deleteUser(id: string, actor: AuthActor): Promise<void>;
  createGroup(
    group: { readonly id: string; readonly externalId?: string | undefined },
    actor: AuthActor,
  ): Promise<ProvisionedGroup>;
  getGroup(id: string): Promise<ProvisionedGroup>;
  listGroups(slice: SliceRequest): Promise<Slice<ProvisionedGroup>>;
  setExternalId(id: string, externalId: string | undefined, actor: AuthActor): Promise<ProvisionedGroup>;
  deleteGroup(id: string, actor: AuthActor): Promise<void>;
  /** The people of the provider in one of its groups. */
  members(id: string): Promise<readonly { readonly id: string; readonly userName: string }[]>;
  changeMembers(id: string, change: MemberChange, actor: AuthActor): Promise<void>;
}
