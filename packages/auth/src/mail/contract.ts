import type { ClientOrigin } from '../identity.ts';
import type { AuthActor, User } from '../model.ts';
import type { Mailer } from '../sources/contract.ts';

export interface MailOptions {
  readonly mailer: Mailer;
  /** Where links of mails lead. */
  readonly baseUrl: string;
  /** One more mail may be sent after each such time; 0 sets no limit. */
  readonly everyMs: number;
  /** Mails that may be sent at once; 0 sends none. */
  readonly burst: number;
}

export interface PasswordMailing {
  /** Makes a user without password and mails a link that sets one; without the mail there is no user. */
  invite(address: string, actor: AuthActor): Promise<User>;
  /** Mails a link that sets a new password, if the address has an account: nothing tells whether it has. */
  forgot(address: string, client: ClientOrigin): void;
  /** Throws `unauthenticated` when the token of the mail is not good, `invalid` when the password is not. */
  setPassword(token: string, password: string, email: string | undefined): Promise<void>;
}
