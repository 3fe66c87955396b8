import type { PasswordAttempt, PasswordAuthenticator } from './contract.ts';
import { callService } from './service-call.ts';

export interface RemoteAuthenticatorSettings {
  readonly endpoint: string;
  readonly defaultGroup: string;
  readonly timeoutMs: number;
}

/** A server of the operator that knows names and passwords. */
export class RemoteAuthenticator implements PasswordAuthenticator {
  readonly source = 'remote_authenticator';
  readonly defaultGroup: string;
  readonly #settings: RemoteAuthenticatorSettings;

  constructor(settings: RemoteAuthenticatorSettings) {
    this.#settings = settings;
    this.defaultGroup = settings.defaultGroup;
  }

  async authenticate({
    username,
    password,
    requestId,
  }: PasswordAttempt): Promise<{ readonly userId: string } | undefined> {
    const { endpoint: url, timeoutMs } = this.#settings;
    const { status, body } = await callService({ url, timeoutMs, requestId, body: { username, password } });
    if (status >= 500) throw new Error(`the remote authenticator answered ${status}`);
    if (status < 200 || status > 299 || body === undefined) return undefined;
    const { external_user_identifier: id } = body;
    return { userId: typeof id === 'string' && id !== '' ? id : username };
  }
}
