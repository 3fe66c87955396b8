import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { createUi } from './ui-files.ts';

function builtUi(): string {
  const folder = tempDir();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  writeFileSync(join(folder, 'assets', 'app-1.js'), 'plain');
  writeFileSync(join(folder, 'assets', 'app-1.js.br'), 'br');
  writeFileSync(join(folder, 'assets', 'app-1.js.gz'), 'gzip');
  writeFileSync(join(folder, 'assets', 'engine.wasm'), 'wasm');
  writeFileSync(join(folder, 'secret.txt'), 'not a file of the UI');
  return folder;
}

async function ask(path: string, init: RequestInit = {}, storeOrigins: string[] = []) {
  const server = createServer(createUi({ folder: builtUi(), storeOrigins }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, init);
    // A body said to be compressed that is not cannot be read; its length says which file was sent.
    return { status: answer.status, headers: answer.headers, body: await answer.text().catch(() => '') };
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test('the page is asked for again each time, files with a hash in their name never', async () => {
  const page = await ask('/');
  expect(page).toMatchObject({ status: 200, body: '<!doctype html>' });
  expect(page.headers.get('cache-control')).toBe('no-cache');
  const etag = page.headers.get('etag') ?? '';
  expect((await ask('/', { headers: { 'if-none-match': etag } })).status).toBe(304);
  const asset = await ask('/assets/app-1.js', { headers: { 'accept-encoding': 'identity' } });
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(asset.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect((await ask('/assets/engine.wasm')).headers.get('content-type')).toBe('application/wasm');
});

test('an unknown path is a page of the router, an unknown asset and anything outside is not', async () => {
  expect((await ask('/repositories/r/objects?ref=main')).body).toBe('<!doctype html>');
  expect((await ask('/assets/app-0.js')).status).toBe(404);
  expect((await ask('/secret.txt')).body).toBe('<!doctype html>');
  expect((await ask('/..%2f..%2fetc%2fpasswd')).body).toBe('<!doctype html>');
  expect((await ask('/', { method: 'POST' })).status).toBe(404);
  expect(await ask('/', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
});

test('the smallest form the browser takes is sent', async () => {
  const encodingOf = async (accepted: string): Promise<string | null> =>
    (await ask('/assets/app-1.js', { method: 'HEAD', headers: { 'accept-encoding': accepted } })).headers.get(
      'content-encoding',
    );
  expect(await encodingOf('gzip, deflate, br')).toBe('br');
  expect(await encodingOf('gzip')).toBe('gzip');
  expect(await encodingOf('identity')).toBeNull();
});

test('the policy allows scripts of this origin alone and names the stores of pre-signed URLs', async () => {
  const policy = (await ask('/')).headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval';");
  expect(policy).not.toMatch(/https?:/);
  // No page elsewhere hides ours under its own buttons.
  expect(policy).toContain("frame-ancestors 'self'");
  const open = (await ask('/', {}, ['https://s3.example'])).headers.get('content-security-policy') ?? '';
  expect(open).toContain("connect-src 'self' https://s3.example");
  expect(open).toContain("img-src 'self' data: blob: https://s3.example");
});
