import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createPages, placeholderDocs, placeholderUi } from './pages.ts';
import type { PagesOptions } from './pages.ts';

async function ask(path: string, changes: Partial<PagesOptions> = {}, init: RequestInit = {}) {
  const pages = createPages({
    draining: () => false,
    installationId: () => 'id-1',
    storeAnswers: () => Promise.resolve(true),
    metrics: () => Promise.resolve('m 1\n'),
    openApi: () => '{}',
    session: {
      logout: () => Promise.resolve({ cookies: ['access_token=; Max-Age=0'], location: '/auth/login' }),
      providerLogin: undefined,
    },
    ui: placeholderUi,
    docs: placeholderDocs,
    ...changes,
  });
  const server = createServer(pages);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test('health asks nobody; draining is 503', async () => {
  const broken = { storeAnswers: () => Promise.reject(new Error('down')) };
  expect(await ask('/_health', broken)).toMatchObject({ status: 200, body: 'alive! id-1' });
  expect(await ask('/_health', { installationId: () => undefined })).toMatchObject({ body: 'alive!' });
  expect(await ask('/_health?x=1', { draining: () => true })).toMatchObject({ status: 503 });
});

test('readiness needs an answer of the store within a second', async () => {
  expect(await ask('/_ready')).toMatchObject({ status: 200 });
  expect(await ask('/_ready', { draining: () => true })).toMatchObject({ status: 503 });
  expect(await ask('/_ready', { storeAnswers: () => Promise.reject(new Error('down')) })).toMatchObject({
    status: 503,
  });
  const started = performance.now();
  expect(await ask('/_ready', { storeAnswers: () => new Promise(() => {}) })).toMatchObject({ status: 503 });
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('without the UI every other path is 404, and CORS headers are never sent', async () => {
  expect(await ask('/anything', { ui: undefined })).toMatchObject({ status: 404 });
  const page = await ask('/repositories/x', {}, { headers: { Origin: 'http://elsewhere' } });
  expect(page.status).toBe(200);
  expect([...page.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  expect(await ask('/', {}, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
});

test('logging out clears the session and leads away', async () => {
  const answer = await ask('/logout');
  expect(answer.status).toBe(303);
  expect(answer.headers.get('location')).toBe('/auth/login');
  expect(answer.headers.get('set-cookie')).toContain('Max-Age=0');
});
