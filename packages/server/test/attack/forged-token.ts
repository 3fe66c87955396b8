import { createHmac, hkdfSync, scryptSync } from 'node:crypto';

/** Deriving one takes its time. */
const roots = new Map<string, Buffer>();

/** The key that a server with this secret signs login tokens with; another purpose has another key. */
export function tokenKey(encryptSecret: string, purpose = 'svc/jwt-login'): Buffer {
  const root =
    roots.get(encryptSecret) ??
    scryptSync(encryptSecret, 'svc/auth/v1', 32, { N: 32_768, r: 8, p: 1, maxmem: 1 << 26 });
  roots.set(encryptSecret, root);
  return Buffer.from(hkdfSync('sha256', root, new Uint8Array(), purpose, 32));
}

/** A token as the server would make it, with whatever claims and head are wanted. */
export function forgedToken(
  key: Buffer,
  claims: Readonly<Record<string, unknown>>,
  head: Readonly<Record<string, unknown>> = { alg: 'HS256', typ: 'JWT' },
): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part(head)}.${part(claims)}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}
