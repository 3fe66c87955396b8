import { expect, test } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { describeStore } from './describe-store.ts';

const common = {
  SVC_BLOCKSTORE_TYPE: 'local',
  SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'a secret for signing',
  SVC_AUTH_ENCRYPT_SECRET_KEY: 'a secret for keys',
  SVC_DATABASE_TYPE: 'postgres',
};

test.each([
  'postgres://svc:secr@et@db:5432/svc?sslmode=require',
  'postgres://db/svc?user=svc&password=se/cr@et',
  "host=db user=svc password='se/cr@et' dbname=svc",
  'host=db password=se/cr@et dbname=svc',
])('the password of %s is not told', (connection) => {
  const env = { ...common, SVC_DATABASE_POSTGRES_CONNECTION_STRING: connection };
  const told = describeStore(loadConfig({ env, cwd: '/' }).config);
  expect(told).toMatch(/^postgres .*db.*svc/);
  expect(told).not.toContain('cr@et');
});
