import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { createDocs, isDocsPath } from './docs-files.ts';

function builtDocs(): string {
  const folder = tempDir();
  mkdirSync(join(folder, 'assets'));
  mkdirSync(join(folder, 'api'));
  writeFileSync(join(folder, 'index.html'), 'home');
  writeFileSync(join(folder, '404.html'), 'no such page');
  writeFileSync(join(folder, 'backup.html'), 'backup');
  writeFileSync(join(folder, 'api', 'index.html'), 'api');
  writeFileSync(join(folder, 'api', 'openapi.json'), '{}');
  writeFileSync(join(folder, 'assets', 'app.1.js'), 'script');
  return folder;
}

async function ask(path: string, method = 'GET') {
  const server = createServer(createDocs(builtDocs()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, redirect: 'manual' });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test('pages are asked for by their path, with and without a folder of their own', async () => {
  expect(await ask('/docs/')).toMatchObject({ status: 200, body: 'home' });
  expect(await ask('/docs/backup')).toMatchObject({ status: 200, body: 'backup' });
  expect(await ask('/docs/backup?x=1')).toMatchObject({ status: 200, body: 'backup' });
  expect(await ask('/docs/api/')).toMatchObject({ status: 200, body: 'api' });
  expect(await ask('/docs/api/openapi.json')).toMatchObject({ status: 200, body: '{}' });
  for (const [path, location] of [
    ['/docs', '/docs/'],
    ['/docs/api', '/docs/api/'],
  ] as const) {
    const { status, headers } = await ask(path);
    expect([status, headers.get('location')]).toEqual([301, location]);
  }
});

test('what is not there is not found, and nothing outside is', async () => {
  expect(await ask('/docs/none')).toMatchObject({ status: 404, body: 'no such page' });
  expect(await ask('/docs/assets/app.0.js')).toMatchObject({ status: 404, body: '' });
  expect((await ask('/docs/..%2f..%2fetc%2fpasswd')).status).toBe(404);
  expect((await ask('/docs/', 'POST')).status).toBe(404);
  expect(isDocsPath('/docsome')).toBe(false);
});

test('a page may call nobody but this server', async () => {
  const policy = (await ask('/docs/')).headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toMatch(/https?:/);
});
