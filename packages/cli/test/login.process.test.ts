import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { noteSecret, tempDir, waitUntil } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, quickstart, startSvc, Tool, type Server } from './start-svc.ts';

let server: Server;
/** A browser that is logged in. */
let cookie: string;

beforeAll(async () => {
  server = await startSvc({ SVC_SERVER_WORKERS: '1' });
  const answer = await fetch(`${server.url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      access_key_id: quickstart.accessKeyId,
      secret_access_key: quickstart.secretAccessKey,
    }),
  });
  const { token } = (await answer.json()) as { token: string };
  noteSecret('the token of a browser', token);
  cookie = `access_token=${token}`;
});
afterAll(() => server.stop());

const noKeys = { SVCCTL_CREDENTIALS_ACCESS_KEY_ID: '', SVCCTL_CREDENTIALS_SECRET_ACCESS_KEY: '' };

/** What the button of the page does. */
async function approve(name: string): Promise<{ redirect?: string }> {
  const answer = await fetch(`${server.url}/api/v1/auth/cli/logins/${name}/approve`, {
    method: 'POST',
    headers: { cookie },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { redirect?: string };
}

function cacheOf(tool: Tool): string {
  return join(tool.home, '.svcctl', 'cache', 'svcctl_token_cache.json');
}

function start(tool: Tool, args: readonly string[], env: Record<string, string> = {}) {
  const child = tool.start(args, { env: { ...noKeys, ...env } });
  child.stdin?.end();
  let said = '';
  child.stderr?.on('data', (data: Buffer) => (said += data.toString()));
  return {
    finished: collect(child),
    said(pattern: RegExp): Promise<string> {
      return waitUntil(() => pattern.exec(said)?.[1], { what: String(pattern) });
    },
  };
}

describe('svcctl login', () => {
  it('shows a code where there is no browser, keeps the token for its owner, and logout ends it', async () => {
    const tool = new Tool(server.url);
    const login = start(tool, ['login', '--no-browser']);
    const code = await login.said(/([B-Z]{4}-[B-Z]{4})/);
    expect(await approve(code)).toEqual({});
    const { code: status, stdout } = await login.finished;
    expect(status).toBe(0);
    expect(stdout).toContain('Logged in as quickstart until ');
    const file = cacheOf(tool);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { token } = JSON.parse(readFileSync(file, 'utf8')) as { token: string };
    noteSecret('the token of svcctl', token);
    expect(stdout).not.toContain(token);
    const options = { env: noKeys };
    expect(await tool.ok(['identity'], options)).toContain('quickstart');

    // Another server never sees it.
    const elsewhere = await tool.run(['identity'], {
      env: { ...noKeys, SVCCTL_SERVER_ENDPOINT_URL: server.url.replace('127.0.0.1', 'localhost') },
    });
    expect(elsewhere.stderr).toContain('error authenticating request');

    expect(await tool.ok(['logout'], options)).toContain('Logged out');
    expect(() => statSync(file)).toThrow();
    const asked = await fetch(`${server.url}/api/v1/user`, { headers: { authorization: `Bearer ${token}` } });
    expect(asked.status).toBe(401);
    expect(await tool.ok(['logout'], options)).toContain('Nobody is logged in');
  });

  it('opens a browser, and hears only the one that brings its state', async () => {
    const home = tempDir();
    const seen = join(home, 'opened');
    const browser = join(home, 'browser');
    writeFileSync(browser, `#!/bin/sh\necho "$1" > '${seen}'\n`, { mode: 0o755 });
    const tool = new Tool(server.url, home);
    const login = start(tool, ['login'], { BROWSER: browser });
    const name = await login.said(/\/auth\/cli\?login=([\w-]+)/);
    const opened = await waitUntil(() => /^.*\n$/.exec(readFileSync(seen, 'utf8'))?.[0], {
      what: 'the browser',
    });
    expect(opened.trim()).toBe(`${server.url}/auth/cli?login=${name}`);
    const { redirect = '' } = await approve(name);
    const forged = new URL(redirect);
    forged.searchParams.set('state', 'x'.repeat(22));
    expect((await fetch(forged)).status).toBe(400);
    expect(await (await fetch(redirect)).text()).toContain('svcctl is logged in');
    expect(await login.finished).toMatchObject({ code: 0 });
    expect(await tool.ok(['identity'], { env: noKeys })).toContain('quickstart');
    const { token } = JSON.parse(readFileSync(cacheOf(tool), 'utf8')) as { token: string };
    noteSecret('the token of svcctl', token);

    // An expired one says so, and sends nothing.
    const expired = { token, expiration_time: 1, endpoint: `${server.url}/api/v1` };
    writeFileSync(cacheOf(tool), JSON.stringify(expired));
    const { code, stderr } = await tool.run(['identity'], { env: noKeys });
    expect(code).toBe(1);
    expect(stderr).toContain('your login has expired: run "svcctl login" to log in again');
  });
});
