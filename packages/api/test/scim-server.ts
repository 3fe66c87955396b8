import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAuth, type Auth } from '@svc/auth';
import { createMemStore, LocalCacheBus } from '@svc/kv';
import type { FinishedRequest } from '../src/options.ts';
import { createScim } from '../src/scim/scim.ts';

export const scimToken = 'the-token-of-the-identity-provider-long-enough';
const logger = { debug() {}, info() {}, warn() {}, error() {} };

export interface ScimAnswer {
  readonly status: number;
  readonly headers: Headers;
  // The shapes of a foreign protocol, looked at field by field.
  readonly body: Record<string, unknown>;
}

export interface ScimServer {
  readonly auth: Auth;
  readonly base: string;
  /** What the observer was told. */
  readonly finished: readonly FinishedRequest[];
  readonly send: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<ScimAnswer>;
  readonly stop: () => void;
}

/** Provisioning over access control in memory, and its provider. */
export async function startScim(): Promise<ScimServer> {
  const auth = await createAuth({
    kv: createMemStore(),
    cacheBus: new LocalCacheBus(),
    encryptSecretKey: 'a secret of more than sixteen bytes',
    mode: 'internal',
    cache: { enabled: true, size: 1024, ttlMs: 20_000, jitterMs: 3000 },
    loginDurationMs: 3_600_000,
    loginMaxDurationMs: 3_600_000,
    provisioningToken: scimToken,
    logger,
  });
  const directory = auth.provisioning;
  if (directory === undefined) throw new Error('there is a token');
  const finished: FinishedRequest[] = [];
  const observer = { finished: (request: FinishedRequest) => void finished.push(request) };
  const listen = createScim({ auth, directory, observer });
  const server = createServer((request, response) => void listen(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/scim/v2`;
  return {
    auth,
    base,
    finished,
    async send(method, path, body, headers = { authorization: `Bearer ${scimToken}` }) {
      const answer = await fetch(base + path, {
        method,
        headers: { 'content-type': 'application/scim+json; charset=utf-8', ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      const parsed = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      return { status: answer.status, headers: answer.headers, body: parsed };
    },
    stop: () => void server.close(),
  };
}
