import { anonymousClient } from './api.ts';
import { writePreference } from './preferences.ts';

/** The key id of this session. It is not secret, but revoking it would end the session. */
export const sessionKey = 'session-key';

/** When the session ends, in Unix seconds; 0 when unknown. The token itself stays in its cookie. */
export const sessionEnd = 'session-end';

export async function logIn(pair: { access_key_id: string; secret_access_key: string }): Promise<void> {
  const { token_expiration } = await anonymousClient.post('/auth/login', { body: pair });
  writePreference(sessionEnd, token_expiration);
  writePreference(sessionKey, pair.access_key_id);
}

export function forgetSession(): void {
  writePreference(sessionEnd, undefined);
  writePreference(sessionKey, undefined);
}
