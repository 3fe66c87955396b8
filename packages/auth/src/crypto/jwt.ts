import { createHmac, timingSafeEqual } from 'node:crypto';

export type JwtClaims = Readonly<Record<string, unknown>>;

/** Only keyed hashes: an unsigned or asymmetric token is refused by not being in this table. */
const algorithms: Readonly<Record<string, string>> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' };

const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');

export function signJwt(claims: JwtClaims, key: Buffer): string {
  const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

/** The claims of a token whose signature is ours; undefined otherwise. The caller judges the claims. */
export function verifyJwt(token: string, key: Buffer): JwtClaims | undefined {
  if (!isJwt(token)) return undefined;
  const [head = '', body = '', signature = ''] = token.split('.');
  const algorithm = readAlgorithm(head);
  if (algorithm === undefined) return undefined;
  const expected = createHmac(algorithm, key).update(`${head}.${body}`).digest();
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return readObject(body);
}

/** Three base64url parts. Anything else in a cookie counts as no token at all. */
export function isJwt(text: string): boolean {
  return /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/.test(text);
}

function readAlgorithm(head: string): string | undefined {
  if (head === header) return 'sha256';
  const name = readObject(head)?.['alg'];
  return typeof name === 'string' && Object.hasOwn(algorithms, name) ? algorithms[name] : undefined;
}

function readObject(part: string): JwtClaims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JwtClaims)
      : undefined;
  } catch {
    return undefined;
  }
}
