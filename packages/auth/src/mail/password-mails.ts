import { XidGenerator } from '@svc/encoding';
import type { AuthLogger, Users } from '../auth.ts';
import { signJwt, verifyJwt } from '../crypto/jwt.ts';
import type { KeyRing } from '../crypto/key-ring.ts';
import { checkPassword } from '../crypto/password.ts';
import { authenticationFailed, AuthError } from '../errors.ts';
import { isEmailAddress } from '../id-rules.ts';
import type { ClientOrigin } from '../identity.ts';
import type { FailureLimits } from '../login/failure-limits.ts';
import type { AuthActor, User } from '../model.ts';
import type { Mailer } from '../sources/contract.ts';
import type { PasswordMailing } from './contract.ts';
import type { MailLimiter } from './mail-limiter.ts';
import { invitationMail, resetMail } from './mail-texts.ts';

const audience = 'reset_password';
const resetSeconds = 20 * 60;
const invitationSeconds = 6 * 3600;

export interface PasswordMailsOptions {
  readonly keys: KeyRing;
  /** False when the token was used before. */
  readonly claimToken: (tokenId: string, expiresAt: number) => Promise<boolean>;
  readonly users: Users;
  readonly mailer: Mailer;
  /** Where links of mails lead. */
  readonly baseUrl: string;
  readonly limiter: MailLimiter;
  readonly failures: FailureLimits;
  readonly clock: () => number;
  readonly logger: AuthLogger;
}

/** Invitations and forgotten passwords: whoever reads the mail chooses the password, once. */
export class PasswordMails implements PasswordMailing {
  readonly #options: PasswordMailsOptions;
  readonly #key: Buffer;
  readonly #xids = new XidGenerator();

  constructor(options: PasswordMailsOptions) {
    this.#options = options;
    this.#key = options.keys.keyFor('svc/jwt-reset');
  }

  async invite(address: string, actor: AuthActor): Promise<User> {
    const { users, mailer, limiter } = this.#options;
    if (!isEmailAddress(address)) throw new AuthError('invalid', 'Invalid email format');
    const email = address.toLowerCase();
    const user = await users.create({ username: email, email }, actor);
    try {
      if (!(await limiter.take())) {
        throw new AuthError('too_many_failures', 'too many mails were sent; try again later', {
          retryAfterSeconds: 60,
        });
      }
      const token = this.#token(email, invitationSeconds);
      await mailer.send(invitationMail(email, this.#link('/auth/users/create', { token, email })));
      return user;
    } catch (error) {
      await users.delete(user.username, actor);
      throw error;
    }
  }

  forgot(address: string, client: ClientOrigin): void {
    const { failures, logger } = this.#options;
    if (!isEmailAddress(address)) throw new AuthError('invalid', 'Invalid email format');
    failures.require('forgotPassword', client.ip);
    void failures.failed('forgotPassword', client.ip);
    // Nobody waits for it: how long it takes would tell who has an account.
    this.#sendReset(address.toLowerCase()).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      logger.error({ event: 'mail failed', error: reason }, 'a mail could not be sent');
    });
  }

  async setPassword(token: string, password: string, email: string | undefined): Promise<void> {
    const { users, clock } = this.#options;
    const claims = verifyJwt(token, this.#key);
    const { sub, jti, exp, aud } = claims ?? {};
    if (aud !== audience || typeof sub !== 'string' || typeof jti !== 'string') throw authenticationFailed();
    if (typeof exp !== 'number' || exp * 1000 <= clock()) throw authenticationFailed();
    if (email !== undefined && email.toLowerCase() !== sub) throw authenticationFailed();
    // A password that cannot be taken does not use up the token.
    checkPassword(password);
    const user = await users.find({ email: sub });
    if (user === undefined || !(await this.#options.claimToken(jti, exp))) throw authenticationFailed();
    await users.setPassword(user.username, password, { username: user.username });
  }

  async #sendReset(email: string): Promise<void> {
    const { users, mailer, limiter, logger } = this.#options;
    const user = await users.find({ email });
    // Users of another system have their password there.
    if (user?.source !== 'internal') return;
    if (!(await limiter.take())) {
      logger.warn({ event: 'mail dropped' }, 'too many mails were sent; one was dropped');
      return;
    }
    const token = this.#token(email, resetSeconds);
    await mailer.send(resetMail(email, this.#link('/auth/resetpassword', { token })));
  }

  #token(email: string, seconds: number): string {
    const now = Math.floor(this.#options.clock() / 1000);
    const jti = this.#xids.next();
    return signJwt({ aud: audience, sub: email, jti, iat: now, exp: now + seconds }, this.#key);
  }

  #link(path: string, query: Readonly<Record<string, string>>): string {
    const base = this.#options.baseUrl.replace(/\/+$/, '');
    return `${base}${path}?${new URLSearchParams(query).toString()}`;
  }
}
