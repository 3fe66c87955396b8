import { actor, local, makeAuth, type AuthFixture } from './make-auth.ts';

export const secretKey = 'a secret of more than sixteen bytes';
export const alice = { accessKeyId: 'ALICE', secretAccessKey: 'alice:secret' };

export async function withAlice(options: Parameters<typeof makeAuth>[0] = {}): Promise<AuthFixture> {
  const fixture = await makeAuth(options);
  await fixture.auth.users.create({ username: 'alice' }, actor);
  await fixture.auth.credentials.create('alice', actor, alice);
  return fixture;
}

export function loginAs(
  fixture: AuthFixture,
  password = alice.secretAccessKey,
  username = alice.accessKeyId,
) {
  return fixture.auth.login({ username, password, client: local });
}

export const refused = { kind: 'unauthenticated', message: 'error authenticating request' };
