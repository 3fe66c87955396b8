import { createSign, randomUUID } from 'node:crypto';
import { bytesOf, host, hostMany, packageOf, textOf, type LuaValue } from '../lua-value.ts';
import type { Ask } from './svc.ts';

const timeoutMs = 60_000;
const scope = 'https://www.googleapis.com/auth/devstorage.read_write';
const lifetimeSeconds = 3600;

interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: string;
  readonly token_uri: string;
}

export function gcloudPackage(ask: Ask): LuaValue {
  return packageOf({ gs_client: host((args) => gsClient(ask, serviceAccount(args.text(1)))) });
}

function serviceAccount(text: string): ServiceAccount {
  let parsed: Partial<ServiceAccount> = {};
  try {
    parsed = JSON.parse(text) as Partial<ServiceAccount>;
  } catch {
    // Its text may hold the key: it is not repeated.
  }
  const { client_email, private_key, token_uri = 'https://oauth2.googleapis.com/token' } = parsed;
  if (typeof client_email !== 'string' || typeof private_key !== 'string')
    throw new TypeError('the service account must be JSON with client_email and private_key');
  return { client_email, private_key, token_uri };
}

/** A client of Google Cloud Storage. */
function gsClient(ask: Ask, account: ServiceAccount): LuaValue {
  let token: string | undefined;
  return packageOf({
    write_fuse_symlink: hostMany((args) => {
      const options = args.has(3) ? args.table(3) : new Map<string, LuaValue>();
      const option = (name: string): string => {
        const value = options.get(name);
        return typeof value === 'string' ? textOf(value) : '';
      };
      const target = targetOf(args.text(1), option('from'), option('to'));
      const [, bucket, name] = /^gs:\/\/([^/]+)\/(.+)$/.exec(args.text(2)) ?? [];
      if (bucket === undefined || name === undefined)
        throw new TypeError(`not an address of Google Cloud Storage: ${args.text(2)}`);
      token ??= fetchToken(ask, account);
      const boundary = randomUUID();
      const metadata = JSON.stringify({ name, metadata: { gcsfuse_symlink_target: target } });
      const part = (type: string, body: string): string =>
        `--${boundary}\r\ncontent-type: ${type}\r\n\r\n${body}\r\n`;
      const answer = ask({
        kind: 'http',
        url: `https://storage.googleapis.com/upload/storage/v1/b/${encodeURIComponent(bucket)}/o?uploadType=multipart`,
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': `multipart/related; boundary=${boundary}`,
        },
        body: bytesOf(
          `${part('application/json; charset=UTF-8', metadata)}${part('application/octet-stream', '')}--${boundary}--`,
        ),
        timeoutMs,
      });
      if (answer.status >= 300)
        throw new Error(`${args.text(2)}: HTTP ${answer.status} ${messageOf(answer.body)}`.trim());
      return [];
    }),
  });
}

function targetOf(address: string, from: string, to: string): string {
  const rest = from !== '' && address.startsWith(from) ? address.slice(from.length) : address;
  if (to === '') return rest;
  return `${to.replace(/\/$/, '')}/${rest.replace(/^\//, '')}`;
}

/** Trades a signed statement of who we are for a token. */
function fetchToken(ask: Ask, { client_email, private_key, token_uri }: ServiceAccount): string {
  const now = Math.floor(Date.now() / 1000);
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { iss: client_email, scope, aud: token_uri, iat: now, exp: now + lifetimeSeconds };
  const statement = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`;
  const signature = createSign('RSA-SHA256').update(statement).sign(private_key, 'base64url');
  const answer = ask({
    kind: 'http',
    url: token_uri,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: `${statement}.${signature}`,
    }).toString(),
    timeoutMs,
  });
  const body = parse(answer.body);
  const { access_token: token, error } = body;
  if (answer.status >= 300 || typeof token !== 'string')
    throw new Error(
      `no token for ${client_email}: HTTP ${answer.status} ${typeof error === 'string' ? error : ''}`.trim(),
    );
  return token;
}

function messageOf(body: Uint8Array): string {
  const error = parse(body)['error'];
  const message = typeof error === 'object' && error !== null ? Reflect.get(error, 'message') : undefined;
  return typeof message === 'string' ? message : '';
}

function parse(body: Uint8Array): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as Record<string, unknown>;
  } catch {
    return {};
  }
}
