import type { Statement } from '@svc/auth';
import type { TestGateway } from './compose.ts';
import type { S3TestClient } from './s3-test-client.ts';

/** A user with exactly these statements, and a client that signs as that user. */
export async function createUser(
  gateway: TestGateway,
  username: string,
  statements: readonly Statement[],
): Promise<{ readonly client: S3TestClient; readonly accessKeyId: string }> {
  const actor = { username: 'admin' };
  const { auth } = gateway;
  await auth.users.create({ username }, actor);
  if (statements.length > 0) {
    await auth.policies.create({ id: `Policy-${username}`, statement: statements }, actor);
    await auth.users.attachPolicy(username, `Policy-${username}`, actor);
  }
  const key = await auth.credentials.create(username, actor);
  return { client: gateway.client(key), accessKeyId: key.accessKeyId };
}
