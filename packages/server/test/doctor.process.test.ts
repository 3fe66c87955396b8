import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { quickstartAuth, runSvc, startSvc } from './start-server.ts';

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly text: string;
  readonly fix?: string;
}

const headers = { Authorization: quickstartAuth, 'Content-Type': 'application/json' };
const loopback = { SVC_LISTEN_ADDRESS: '127.0.0.1:0' };

async function findings(
  home: string,
  env: Record<string, string> = {},
): Promise<{ code: number | null; found: Finding[] }> {
  const { code, stdout } = await runSvc(['doctor', '--quickstart', '--json'], { ...loopback, ...env }, home);
  const found = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Finding);
  return { code, found };
}

const failures = (found: readonly Finding[]): Finding[] => found.filter(({ state }) => state === 'failure');

test('a sound installation has no failure, before its first start and while it serves', async () => {
  const home = tempDir();
  const before = await findings(home);
  expect(failures(before.found)).toEqual([]);
  expect(before.code).toBe(0);
  expect(existsSync(join(home, 'svc', 'metadata', 'data.mdb'))).toBe(false);

  const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' }, home);
  const made = await server.request('/api/v1/repositories', {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'lake', storage_namespace: 'local://lake' }),
  });
  expect(made.status).toBe(201);
  const during = await findings(home, { SVC_LISTEN_ADDRESS: `127.0.0.1:${server.port}` });
  expect(failures(during.found)).toEqual([]);
  expect(during.found).toContainEqual({
    check: 'block store (local)',
    state: 'ok',
    text: 'writes, reads and deletes in local://lake',
  });
  expect(during.found.find(({ check }) => check === 'listener')?.text).toContain('a server is alive');
  expect(during.found.map(({ check }) => check)).toContain('security: quickstart-credentials');
  const text = await runSvc(['doctor', '--quickstart'], loopback, home);
  expect(text.stdout).toMatch(/fix: delete it\n(.|\n)*0 failures, \d+ warnings\n$/);
  await server.stop();

  const mended = join(home, 'svc', 'metadata', 'data.mdb');
  writeFileSync(mended, 'no store');
  const after = await findings(home);
  expect(after.code).toBe(1);
  expect(failures(after.found)[0]).toMatchObject({
    check: 'key-value store (local)',
    text: expect.stringContaining('restore it from a backup') as string,
  });
});

test('an address of another machine and a folder below a file are failures with what to do', async () => {
  const home = tempDir();
  const file = join(home, 'file');
  writeFileSync(file, '');
  const below = join(file, 'below');
  const { code, found } = await findings(home, {
    SVC_BLOCKSTORE_LOCAL_PATH: below,
    SVC_LISTEN_ADDRESS: '192.0.2.1:8000',
  });
  expect(code).toBe(1);
  const failed = failures(found);
  expect(failed.find(({ check }) => check === 'listener')?.fix).toContain('listen_address');
  expect(failed.map(({ check }) => check)).toContain(`folder ${below}`);
});
