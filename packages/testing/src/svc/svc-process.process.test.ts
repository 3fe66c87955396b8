import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findLeaks } from '../secrets/find-leaks.ts';
import { runBook } from '../secrets/run-book.ts';
import { SecretBook } from '../secrets/secret-book.ts';
import { tempDir } from '../temp-dir.ts';
import { chattyLogging, startSvcProcess } from './svc-process.ts';

test('what a server gives out is noted on the wire, and would be found in its log', async () => {
  const svc = await startSvcProcess({
    env: { ...chattyLogging, SVC_SERVER_WORKERS: '1', SVC_DATABASE_LOCAL_SYNC_WRITES: 'false' },
  });
  const pair = 'AKIAIOSFOLQUICKSTART:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const answer = await fetch(`${svc.url}/api/v1${path}`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Record<string, string>;
  };
  await post('/auth/users', { id: 'tom' });
  const { access_key_id, secret_access_key: secret = '' } = await post('/auth/users/tom/credentials', {});
  const { token = '' } = await post('/auth/login', { access_key_id, secret_access_key: secret });
  await svc.stop();

  const { secrets, logs } = runBook();
  const noted = readdirSync(secrets)
    .map((file) => readFileSync(join(secrets, file), 'utf8'))
    .join('');
  for (const each of [secret, token, Buffer.from(pair).toString('base64')]) expect(noted).toContain(each);
  const log = readFileSync(join(logs, `svc-${svc.child.pid}-stdout.log`), 'utf8');
  expect(log).toContain('"operation_id":"createCredentials"');
  expect(readFileSync(join(logs, `svc-${svc.child.pid}-metrics.log`), 'utf8')).toContain('createCredentials');

  const careless = new SecretBook(tempDir());
  careless.note('the secret of tom', secret);
  careless.log('svc.log', log);
  expect(findLeaks(careless)).toStrictEqual([]);
  careless.log('svc.log', `{"response_body":"${secret}"}\n`);
  expect(findLeaks(careless)).toStrictEqual([
    'svc.log holds the secret of tom: {"response_body":"<the secret>"}',
  ]);
});
