import { randomUUID } from 'node:crypto';
import { signJwt } from '../crypto/jwt.ts';
import { AuthError } from '../errors.ts';
import { isEmailAddress } from '../id-rules.ts';
import type { Policy, User } from '../model.ts';
import type { AuthorizationService, Directory, DirectoryContext } from '../rbac/directory.ts';
import type { HeldPolicy } from '../rbac/effective-policies.ts';
import { AuthorizationClient, segment } from './authorization/client.ts';
import { RemoteCredentials } from './authorization/remote-credentials.ts';
import { RemoteGroups } from './authorization/remote-groups.ts';
import { RemotePolicies } from './authorization/remote-policies.ts';
import { RemotePrincipals } from './authorization/remote-principals.ts';
import { newUserBody, RemoteUsers } from './authorization/remote-users.ts';
import { readGroup, readPolicy, readUser } from './authorization/wire.ts';

export interface AuthorizationServiceSettings {
  readonly endpoint: string;
  /** Empty: a token is signed with the secret that both sides share. */
  readonly token: string;
  readonly sharedSecret: string;
  /** How long a start waits for it; undefined does not. */
  readonly healthCheckMs: number | undefined;
  /** It sends invitations itself. */
  readonly supportsInvites: boolean;
}

const tenYears = 10 * 365 * 24 * 3600;

/** A service of the operator that keeps users, groups, policies and credentials. It decides nothing. */
export class RemoteAuthorizationService implements AuthorizationService {
  readonly invite: AuthorizationService['invite'];
  readonly #client: AuthorizationClient;
  readonly #healthCheckMs: number | undefined;

  constructor(settings: AuthorizationServiceSettings) {
    const token = settings.token === '' ? ownToken(settings.sharedSecret) : settings.token;
    this.#client = new AuthorizationClient({ endpoint: settings.endpoint, token });
    this.#healthCheckMs = settings.healthCheckMs;
    this.invite = settings.supportsInvites ? (address) => this.#invite(address) : undefined;
  }

  async check(): Promise<void> {
    if (this.#healthCheckMs !== undefined) await this.#client.check(this.#healthCheckMs);
  }

  enterRequest(requestId: string): void {
    this.#client.enterRequest(requestId);
  }

  open(context: DirectoryContext): Directory {
    const client = this.#client;
    return {
      users: new RemoteUsers(client, context),
      groups: new RemoteGroups(client, context),
      policies: new RemotePolicies(client, context),
      credentials: new RemoteCredentials(client, context),
      externalPrincipals: new RemotePrincipals(client, context),
      effectivePolicies: (username) => this.#effective(username),
      heldPolicies: (username) => this.#held(username),
      allPolicies: () => client.all('/auth/policies', readPolicy),
    };
  }

  async claimToken(tokenId: string, expiresAt: number): Promise<boolean> {
    const body = { token_id: tokenId, expires_at: expiresAt };
    try {
      await this.#client.ask('POST', '/auth/tokenid/claim', 201, { body });
      return true;
    } catch (error) {
      if (error instanceof AuthError && error.kind === 'invalid') return false;
      throw error;
    }
  }

  async #invite(address: string): Promise<User> {
    if (!isEmailAddress(address)) throw new AuthError('invalid', 'Invalid email format');
    const email = address.toLowerCase();
    const body = { ...newUserBody({ username: email, email }), invite: true };
    await this.#client.ask('POST', '/auth/users', 201, { body });
    return readUser(await this.#client.ask('GET', userPath(email), 200));
  }

  /** Of a user that is gone: none. */
  async #effective(username: string): Promise<Policy[]> {
    const query = { effective: true };
    try {
      return await this.#client.all(`${userPath(username)}/policies`, readPolicy, { query });
    } catch (error) {
      if (error instanceof AuthError && error.kind === 'not_found') return [];
      throw error;
    }
  }

  async #held(username: string): Promise<HeldPolicy[]> {
    const client = this.#client;
    const [direct, groups] = await Promise.all([
      client.all(`${userPath(username)}/policies`, readPolicy),
      client.all(`${userPath(username)}/groups`, readGroup),
    ]);
    const held = new Map<string, HeldPolicy>();
    for (const policy of direct) held.set(policy.id, { policy, isDirect: true, groups: [] });
    for (const { id } of groups) {
      for (const policy of await client.all(`/auth/groups/${segment(id)}/policies`, readPolicy)) {
        const known = held.get(policy.id) ?? { policy, isDirect: false, groups: [] };
        held.set(policy.id, { ...known, groups: [...known.groups, id] });
      }
    }
    return [...held.values()];
  }
}

/** One for the life of the process. The subject is the name that such services know. */
function ownToken(sharedSecret: string): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    jti: randomUUID(),
    aud: ['auth-client'],
    sub: '_lakefs-internal',
    iat: now,
    exp: now + tenYears,
  };
  return signJwt(claims, Buffer.from(sharedSecret));
}

function userPath(username: string): string {
  return `/auth/users/${segment(username)}`;
}
