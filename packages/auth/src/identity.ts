import type { User } from './model.ts';

export type AuthMethod =
  | 'bearer'
  | 'basic'
  | 'cookie'
  | 'sig_v4'
  | 'sig_v2'
  | 'external_cookie'
  | 'anonymous';

/** The authenticated caller. */
export interface Identity {
  readonly user: User;
  readonly method: AuthMethod;
  /** The key the caller proved to hold, or that a token was issued for. */
  readonly accessKeyId?: string;
  /** The session, where a token tells it. */
  readonly session?: { readonly id: string; readonly expiresAt: number };
  /** The key is bound to one bucket, and good for the S3 gateway only. */
  readonly hasView?: boolean;
  /** Of a temporary key, which carries its view itself. */
  readonly view?: KeyView;
}

/** The one bucket that a temporary key opens, and what it shows. */
export interface KeyView {
  readonly bucket: string;
  readonly repository: string;
  /** A namesake of the repository is not what was bound. */
  readonly instanceUid: string;
  readonly ref: string;
  readonly readOnly: boolean;
}

/**
 * The caller of a request without credentials. Its rights come from the statements that name anonymous callers, never
 * from a user of that name: `method` tells them apart.
 */
export const anonymousIdentity: Identity = {
  user: { username: 'anonymous', createdAt: 0, source: 'anonymous' },
  method: 'anonymous',
};

/** Where a request comes from, after trusted proxies were taken into account (`clientOf`). */
export interface ClientOrigin {
  readonly ip: string;
  /** The client speaks TLS, to us or to a trusted proxy. */
  readonly secure: boolean;
}

/** What authentication needs of an HTTP request; header names in lower case as node:http gives them. */
export interface RequestHead {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly client: ClientOrigin;
  readonly requestId?: string | undefined;
}

/** What was asked for. */
export interface RequiredPermission {
  readonly action: string;
  readonly resource: string;
}

/** The outcome of a permission check; `message` is the full text of the refusal, `required` what it is about. */
export type Decision =
  | { readonly allowed: true }
  | {
      readonly allowed: false;
      readonly message: string;
      readonly required?: RequiredPermission | undefined;
    };
