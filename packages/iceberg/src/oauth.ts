import { AuthError, type Auth, type ClientOrigin } from '@svc/auth';
import type { Answer } from './call.ts';

/** A refusal in the shape of RFC 6749. */
function refused(status: number, error: string, description: string): Answer {
  return { status, body: { error, error_description: description } };
}

/** Trades an access key and its secret for a token. */
export async function issueToken(
  auth: Auth,
  form: URLSearchParams,
  {
    client,
    requestId,
    now,
    basic,
  }: {
    readonly client: ClientOrigin;
    readonly requestId: string;
    readonly now: number;
    readonly basic: { readonly username: string; readonly password: string } | undefined;
  },
): Promise<Answer> {
  if (form.get('grant_type') !== 'client_credentials') {
    return refused(400, 'unsupported_grant_type', 'use client_credentials with an access key and its secret');
  }
  const username = form.get('client_id') ?? basic?.username ?? '';
  const password = form.get('client_secret') ?? basic?.password ?? '';
  if (username === '' || password === '') {
    return refused(
      400,
      'invalid_request',
      'client_id and client_secret must be an access key and its secret',
    );
  }
  try {
    const session = await auth.login({ username, password, client, requestId });
    return {
      status: 200,
      body: {
        access_token: session.token,
        token_type: 'bearer',
        expires_in: Math.max(1, session.expiresAt - Math.floor(now / 1000)),
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        scope: 'catalog',
      },
    };
  } catch (error) {
    if (error instanceof AuthError && error.kind === 'unauthenticated') {
      return refused(401, 'invalid_client', error.message);
    }
    throw error;
  }
}
