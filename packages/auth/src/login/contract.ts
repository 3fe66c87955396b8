import type { Session } from '../auth.ts';
import type { ClientOrigin, Identity } from '../identity.ts';

export interface CliLoginStart {
  /** SHA-256 of the verifier, base64url. */
  readonly challenge: string;
  /** The machine the program says it runs on. */
  readonly host: string;
  /** Where the program listens on the browser's machine, if it does. */
  readonly callback?: { readonly port: number; readonly state: string } | undefined;
  readonly client: ClientOrigin;
}

export interface CliLogin {
  /** Short enough to be typed when the program does not listen for the browser. */
  readonly name: string;
  readonly host: string;
  /** Where it was begun. */
  readonly ip: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** Logins of command-line programs that a person approves in a browser. All throw `not_found` and `too_many_failures`. */
export interface CliLogins {
  begin(start: CliLoginStart): Promise<CliLogin>;
  /** One that waits for an approval. */
  get(name: string, identity: Identity): Promise<CliLogin>;
  /** Answers where the browser goes next. Throws `forbidden` when not asked by a browser. */
  approve(name: string, identity: Identity): Promise<{ readonly redirect: string | undefined }>;
  /** The session, once; undefined as long as nobody has approved it. */
  finish(
    name: string,
    proof: { readonly verifier: string; readonly code?: string | undefined },
    client: ClientOrigin,
  ): Promise<Session | undefined>;
}
