import { spawn } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Calls } from '@svc/client';
import { CliError } from '../errors.ts';
import type { Output } from '../output/output.ts';

const pollMs = 2000;

export interface BrowserLogin {
  /** Without credentials. */
  readonly calls: Calls;
  /** Address of the server's pages. */
  readonly endpoint: string;
  readonly out: Output;
  readonly signal: AbortSignal;
  /** False: somebody types a code into a browser elsewhere. */
  readonly mayOpen: boolean;
  readonly environment: NodeJS.ProcessEnv;
}

export interface LoginToken {
  readonly token: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/**
 * A token that a person approves in a browser. Only this process knows the verifier, so what passes through the browser
 * is of no use to anybody else.
 */
export async function logInByBrowser(login: BrowserLogin): Promise<LoginToken> {
  const verifier = randomBytes(32).toString('base64url');
  const start = { challenge: hash('sha256', verifier, 'base64url'), host: ownName() };
  const opener = login.mayOpen ? browserCommand(process.platform, login.environment) : undefined;
  return opener === undefined
    ? byTypedCode(login, start, verifier)
    : byCallback(login, start, verifier, opener);
}

interface Start {
  readonly challenge: string;
  readonly host: string;
}

async function byTypedCode(
  { calls, endpoint, out, signal }: BrowserLogin,
  start: Start,
  verifier: string,
): Promise<LoginToken> {
  const begun = await calls.post('/auth/cli/logins', { body: start, repeat: false, signal });
  out.errorLine(
    `Open ${endpoint}/auth/cli in a browser and type this code: ${out.paint(begun.name, 'yellow')}`,
  );
  while (Date.now() / 1000 < begun.expiration_date) {
    await pause(pollMs, undefined, { signal });
    const found = await finish(calls, begun.name, { verifier }, signal);
    if (found !== undefined) return found;
  }
  throw new CliError('nobody has approved the login in time: run "svcctl login" again');
}

async function byCallback(
  { calls, endpoint, out, signal }: BrowserLogin,
  start: Start,
  verifier: string,
  opener: readonly string[],
): Promise<LoginToken> {
  const state = randomBytes(16).toString('base64url');
  const callback = await listenForBrowser(state);
  try {
    const body = { ...start, callback: { port: callback.port, state } };
    const begun = await calls.post('/auth/cli/logins', { body, repeat: false, signal });
    const url = `${endpoint}/auth/cli?login=${begun.name}`;
    out.errorLine(`Approve the login in your browser. If none opens, go to ${url}`);
    out.errorLine('in a browser on this machine, or run "svcctl login --no-browser".');
    open(opener, url);
    const timeout = AbortSignal.timeout(Math.max(1, begun.expiration_date * 1000 - Date.now()));
    const code = await callback.code(AbortSignal.any([signal, timeout]));
    const found = await finish(calls, begun.name, { verifier, code }, signal);
    if (found === undefined) throw new CliError('the server does not know of the approval');
    return found;
  } finally {
    callback.close();
  }
}

async function finish(
  calls: Calls,
  name: string,
  body: { verifier: string; code?: string },
  signal: AbortSignal,
): Promise<LoginToken | undefined> {
  const found = await calls.post('/auth/cli/logins/{login}/token', {
    params: { path: { login: name } },
    body,
    repeat: false,
    signal,
  });
  if (found.token === undefined) return undefined;
  return { token: found.token, expiresAt: found.token_expiration ?? 0 };
}

/** Waits on loopback for the browser that was sent here with a code. Whoever does not know the state is not heard. */
async function listenForBrowser(state: string) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://127.0.0.1').searchParams;
    const code = query.get('code');
    if (request.method !== 'GET' || query.get('state') !== state || code === null) {
      answer(response, 400, 'This is not the login that svcctl waits for.');
    } else {
      answer(response, 200, 'svcctl is logged in. You can close this page.');
      resolve(code);
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    port: (server.address() as AddressInfo).port,
    code(signal: AbortSignal): Promise<string> {
      signal.addEventListener('abort', () =>
        reject(new CliError('nobody has approved the login in time: run "svcctl login" again')),
      );
      return promise;
    },
    close: () => void server.close(),
  };
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(`${text}\n`);
}

/** The program that shows an address in the browser of this machine, if there is a screen. */
function browserCommand(platform: string, environment: NodeJS.ProcessEnv): readonly string[] | undefined {
  const own = environment['BROWSER'] ?? '';
  if (own !== '') return [own];
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  const screen = environment['DISPLAY'] ?? environment['WAYLAND_DISPLAY'] ?? '';
  return screen === '' ? undefined : ['xdg-open'];
}

function open([command = '', ...words]: readonly string[], url: string): void {
  const browser = spawn(command, [...words, url], { stdio: 'ignore', detached: true });
  // The address is printed for those who have to open it themselves.
  browser.on('error', () => undefined);
  browser.unref();
}

/** Host names hold little more than this; the server takes nothing else. */
function ownName(): string {
  return (
    hostname()
      .replaceAll(/[^A-Za-z0-9._-]/g, '-')
      .slice(0, 255) || 'unknown'
  );
}
