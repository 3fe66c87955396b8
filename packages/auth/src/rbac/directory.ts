import type { CredentialKeys, ExternalPrincipals, Groups, Policies, Users } from '../auth.ts';
import type { AuthActor, CredentialsWithSecret, ExternalPrincipal, Policy, User } from '../model.ts';
import type { AuthStore } from '../store/auth-store.ts';
import type { Changes, RbacContext } from './context.ts';
import { CredentialStore } from './credential-store.ts';
import { allPolicies, effectivePolicies, heldPolicies, type HeldPolicy } from './effective-policies.ts';
import { ExternalPrincipalStore } from './external-principal-store.ts';
import { GroupStore } from './group-store.ts';
import { PolicyStore } from './policy-store.ts';
import { UserStore } from './user-store.ts';

export interface DirectoryUsers extends Users {
  /** The stored form of the password, for whoever verifies one. */
  passwordHash(username: string): Promise<string | undefined>;
}

export interface DirectoryCredentials extends CredentialKeys {
  /** A key and its secret, for verification; undefined when there is no such key. */
  reveal(accessKeyId: string): Promise<CredentialsWithSecret | undefined>;
}

export interface DirectoryPrincipals extends ExternalPrincipals {
  find(principalId: string): Promise<ExternalPrincipal | undefined>;
}

/** Who there is and what they may: kept by us, or by a service of the operator. */
export interface Directory {
  readonly users: DirectoryUsers;
  readonly groups: Groups;
  readonly policies: Policies;
  readonly credentials: DirectoryCredentials;
  readonly externalPrincipals: DirectoryPrincipals;
  /** Policies attached to the user and to every group of the user, each once. */
  effectivePolicies(username: string): Promise<readonly Policy[]>;
  heldPolicies(username: string): Promise<readonly HeldPolicy[]>;
  allPolicies(): Promise<readonly Policy[]>;
}

/** What a directory that is not ours is given to work with. */
export interface DirectoryContext {
  /** For what the service has no place for. */
  readonly store: AuthStore;
  readonly changes: Changes;
  readonly clock: () => number;
  /** Tells of a change. */
  readonly log: (actor: AuthActor, event: string, target: Readonly<Record<string, string>>) => void;
}

/** A service of the operator that keeps users, groups, policies and credentials. */
export interface AuthorizationService {
  open(context: DirectoryContext): Directory;
  /** Waits until the service is well, unless nobody shall. Throws `configuration` when it is not in time. */
  check(): Promise<void>;
  /** False when the one-time token was used before. */
  claimToken(tokenId: string, expiresAt: number): Promise<boolean>;
  /** Makes a user to whom the service itself sends an invitation; undefined when it sends none. */
  readonly invite: ((address: string) => Promise<User>) | undefined;
  /** From here on, whatever this chain of calls asks is asked in the name of a request. */
  enterRequest(requestId: string): void;
}

/** Everything in the key-value store. */
export function localDirectory(context: RbacContext): Directory {
  const { store } = context;
  return {
    users: new UserStore(context),
    groups: new GroupStore(context),
    policies: new PolicyStore(context),
    credentials: new CredentialStore(context),
    externalPrincipals: new ExternalPrincipalStore(context),
    effectivePolicies: (username) => effectivePolicies(store, username),
    heldPolicies: (username) => heldPolicies(store, username),
    allPolicies: () => allPolicies(store),
  };
}
