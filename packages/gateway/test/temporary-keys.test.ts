import type { KeyView, TemporaryKey } from '@svc/auth';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import { createUser } from './create-user.ts';
import type { S3Call, S3Response, S3TestClient } from './s3-test-client.ts';

let gateway: TestGateway;
const actor = { committer: 'admin' };
const hour = 3_600_000;

beforeAll(async () => {
  gateway = await composeGateway();
  await gateway.createRepository('repo');
  await gateway.createRepository('other');
  await gateway.client().put('/repo/main/t/k', 'main');
  const { engine } = gateway;
  await engine.commits.create({ repository: 'repo', branch: 'main', message: 'm', actor });
  await engine.tags.create({ repository: 'repo', id: 'v1', ref: 'main', actor });
  await engine.branches.create({ repository: 'repo', name: 'dev', source: 'main', actor });
  await gateway.client().put('/repo/dev/t/k', 'dev');
});
afterAll(() => gateway.close());

async function viewOf(ref: string, repository = 'repo'): Promise<KeyView> {
  const { instanceUid } = await gateway.engine.repositories.get(repository);
  return { bucket: repository, repository, instanceUid, ref, readOnly: false };
}

function issue(
  owner: { readonly username: string; readonly accessKeyId?: string },
  view: KeyView,
  durationMs = hour,
): TemporaryKey {
  const { username, accessKeyId } = owner;
  const user = { username, createdAt: 0, source: 'internal' };
  const identity = { user, method: 'basic', ...(accessKeyId === undefined ? {} : { accessKeyId }) } as const;
  return gateway.auth.issueTemporaryKey(identity, view, durationMs);
}

type Send = (method: string, path: string, call?: S3Call) => Promise<S3Response>;

function signer({ accessKeyId, secretAccessKey }: TemporaryKey): S3TestClient {
  return gateway.client({ accessKeyId, secretAccessKey });
}

/** Sends with the session token of the key. */
function sender(key: TemporaryKey, token = key.sessionToken): Send {
  const client = signer(key);
  return (method, path, call = {}) =>
    client.send(method, path, { ...call, headers: { ...call.headers, 'x-amz-security-token': token } });
}

it('shows its ref in the bucket, whichever it is, and nothing else', async () => {
  const onDev = sender(issue({ username: 'admin' }, await viewOf('dev')));
  const onMain = sender(issue({ username: 'admin' }, await viewOf('main')));
  expect([(await onDev('GET', '/repo/t/k')).text, (await onMain('GET', '/repo/t/k')).text]).toEqual([
    'dev',
    'main',
  ]);
  expect((await onDev('PUT', '/repo/t/new', { body: 'x' })).status).toBe(200);
  expect((await gateway.client().get('/repo/dev/t/new')).text).toBe('x');
  expect((await onMain('GET', '/repo/t/new')).status).toBe(404);
  expect((await onDev('GET', '/repo', { query: 'list-type=2' })).all('Key')).toEqual(['t/k', 't/new']);
  expect((await onDev('GET', '/')).all('Name')).toEqual(['repo']);
  expect((await onDev('GET', '/other/main/t/k')).code).toBe('AccessDenied');
  expect((await onDev('PUT', '/repo/t/c', { headers: { 'x-amz-copy-source': '/other/x' } })).code).toBe(
    'AccessDenied',
  );
});

it('writes to branches only', async () => {
  const onTag = sender(issue({ username: 'admin' }, await viewOf('v1')));
  expect((await onTag('GET', '/repo/t/k')).text).toBe('main');
  expect((await onTag('PUT', '/repo/t/k', { body: 'x' })).code).toBe('AccessDenied');
  const readOnly = sender(issue({ username: 'admin' }, { ...(await viewOf('dev')), readOnly: true }));
  expect((await readOnly('DELETE', '/repo/t/k')).code).toBe('AccessDenied');
});

it('needs its own token, unchanged and not over', async () => {
  const key = issue({ username: 'admin' }, await viewOf('dev'));
  const other = issue({ username: 'admin' }, await viewOf('main'));
  expect((await signer(key).get('/repo/t/k')).code).toBe('InvalidAccessKeyId');
  expect((await sender(key, other.sessionToken)('GET', '/repo/t/k')).code).toBe('ExpiredToken');
  expect((await sender({ ...other, secretAccessKey: key.secretAccessKey })('GET', '/repo/t/k')).code).toBe(
    'SignatureDoesNotMatch',
  );
  const over = issue({ username: 'admin' }, await viewOf('dev'), -1000);
  expect((await sender(over)('GET', '/repo/t/k')).code).toBe('ExpiredToken');
});

it('may do what its user may, and ends with the key it was made with', async () => {
  const { auth } = gateway;
  const key = await createUser(gateway, 'reader', [
    { effect: 'allow', action: ['fs:ReadObject'], resource: 'arn:svc:fs:::repository/repo/object/t/*' },
  ]);
  const send = sender(issue({ username: 'reader', accessKeyId: key.accessKeyId }, await viewOf('dev')));
  expect((await send('GET', '/repo/t/k')).text).toBe('dev');
  expect((await send('PUT', '/repo/t/k', { body: 'x' })).code).toBe('AccessDenied');
  expect((await send('GET', '/repo/u/k')).code).toBe('AccessDenied');
  await auth.credentials.delete('reader', key.accessKeyId, { username: 'admin' });
  expect((await send('GET', '/repo/t/k')).code).toBe('ExpiredToken');
});

it('does not open a namesake of its repository', async () => {
  const stale = { ...(await viewOf('main')), instanceUid: 'another' };
  expect((await sender(issue({ username: 'admin' }, stale))('GET', '/repo/t/k')).code).toBe('NoSuchBucket');
});
