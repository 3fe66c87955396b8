import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { auditInstallation } from './self-audit.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-audit-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function audit(env: Record<string, string>, preset?: 'quickstart', keys: readonly string[] = []) {
  const { config } = loadConfig({
    env: {
      SVC_DATABASE_LOCAL_PATH: folder,
      SVC_BLOCKSTORE_LOCAL_PATH: join(folder, 'none'),
      SVC_COMMITTED_LOCAL_CACHE_DIR: join(folder, 'none'),
      ...env,
    },
    cwd: folder,
    preset,
  });
  return auditInstallation({ config, hasAccessKey: (key) => Promise.resolve(keys.includes(key)) });
}

const safe = {
  SVC_DATABASE_TYPE: 'local',
  SVC_BLOCKSTORE_TYPE: 'local',
  SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'p3Xq9-long-and-random',
  SVC_AUTH_ENCRYPT_SECRET_KEY: 'z8Kd2-also-long-random',
  SVC_LISTEN_ADDRESS: '127.0.0.1:8000',
};

test('a safe installation has no findings, and nobody is asked', async () => {
  chmodSync(folder, 0o700);
  const fetched = vi.spyOn(globalThis, 'fetch');
  expect(await audit(safe)).toEqual([]);
  expect(fetched).not.toHaveBeenCalled();
  fetched.mockRestore();
});

test('each unsafe thing is found', async () => {
  chmodSync(folder, 0o755);
  const open = { SVC_LISTEN_ADDRESS: '0.0.0.0:8000' };
  const ids = (await audit(open, 'quickstart', ['AKIAIOSFOLQUICKSTART'])).map((finding) => finding.id);
  expect(ids).toEqual([
    'development-secret',
    'development-secret',
    'plain-http',
    'open-folder',
    'quickstart-credentials',
  ]);
  chmodSync(folder, 0o700);
  const weak = await audit({ ...safe, SVC_AUTH_ENCRYPT_SECRET_KEY: 'aaaaaaaaaaaaaaaaaaaaaa' });
  expect(weak.map((finding) => finding.id)).toEqual(['weak-secret']);
});
