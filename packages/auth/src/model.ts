/** `auth.ui_config.rbac`. */
export type RbacMode = 'none' | 'internal' | 'simplified' | 'external';

export interface User {
  /** The id. */
  readonly username: string;
  /** Unix seconds, as every time in this package. */
  readonly createdAt: number;
  readonly friendlyName?: string;
  readonly email?: string;
  /** `internal`, `ldap`, `oidc`, `remote_authenticator` or a configured label. */
  readonly source: string;
  readonly externalId?: string;
  /** Login tokens issued before this moment are refused. */
  readonly tokensValidAfter?: number;
}

export interface Group {
  readonly id: string;
  readonly createdAt: number;
  readonly description?: string;
}

/** Operator → field → values, as written in the policy. */
export type Condition = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

export interface Statement {
  readonly effect: string;
  readonly action: readonly string[];
  readonly resource: string;
  readonly condition?: Condition;
  /** `['anonymous']`: speaks of requests without credentials, not of whom the policy is attached to. */
  readonly principal?: readonly string[];
}

export interface Policy {
  readonly id: string;
  readonly createdAt: number;
  readonly statement: readonly Statement[];
  /** Set only by the ACL calls. */
  readonly acl?: AclPermission;
}

export type AclPermission = 'Read' | 'Write' | 'Super' | 'Admin';

export interface Credentials {
  readonly accessKeyId: string;
  readonly issuedAt: number;
  readonly username: string;
  /** It is bound to one bucket, and good for the S3 gateway only. */
  readonly hasView: boolean;
}

/** The secret is shown once, by create and setup. */
export interface CredentialsWithSecret extends Credentials {
  readonly secretAccessKey: string;
}

export interface ExternalPrincipal {
  readonly id: string;
  readonly username: string;
}

/** A key pair chosen by the operator. */
export interface KeyPair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Commit author of a user. */
export function committerOf(user: User): string {
  return user.email === undefined || user.email === '' ? user.username : user.email;
}

export interface PageRequest {
  readonly prefix?: string | undefined;
  /** Exclusive, a full id. */
  readonly after?: string | undefined;
  /** -1…1000; absent or <= 0 means 100. */
  readonly amount?: number | undefined;
}

export interface Page<T> {
  readonly results: readonly T[];
  /** Exact. */
  readonly hasMore: boolean;
  /** Last id of the page, `''` when there is no next page. */
  readonly nextOffset: string;
}

export const maxPerPage = 1000;

/** Who makes a change, for the event log. */
export interface AuthActor {
  readonly username: string;
  readonly requestId?: string | undefined;
}
