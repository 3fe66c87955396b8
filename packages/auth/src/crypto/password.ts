import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { AuthError } from '../errors.ts';

const logCost = 15;
const blockSize = 8;
const parallelism = 1;
const hashLength = 32;

/** `$scrypt$ln=15,r=8,p=1$<salt>$<hash>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const derived = await derive(password, salt, { ln: logCost, r: blockSize, p: parallelism }, hashLength);
  return `$scrypt$ln=${logCost},r=${blockSize},p=${parallelism}$${salt.toString('base64')}$${derived.toString('base64')}`;
}

/** Without a stored hash the same work is done, so that the time taken does not tell who has one. */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const match = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([^$]+)\$([^$]+)$/.exec(
    stored ?? dummyHash,
  );
  if (match === null) return false;
  const [, ln = '', r = '', p = '', salt = '', hash = ''] = match;
  const expected = Buffer.from(hash, 'base64');
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt, 'base64'), cost, expected.length);
  return timingSafeEqual(derived, expected) && stored !== undefined;
}

/** Throws `invalid` unless the password may be chosen. */
export function checkPassword(password: string): void {
  if (/^.{8,128}$/su.test(password)) return;
  throw new AuthError('invalid', 'the password must have 8 to 128 characters');
}

const dummyHash = `$scrypt$ln=${logCost},r=${blockSize},p=${parallelism}$${'A'.repeat(22)}==$${'A'.repeat(43)}=`;

function derive(
  password: string,
  salt: Buffer,
  cost: { readonly ln: number; readonly r: number; readonly p: number },
  length: number,
): Promise<Buffer> {
  const N = 2 ** cost.ln;
  return new Promise((resolve, reject) => {
    const options = { N, r: cost.r, p: cost.p, maxmem: 256 * N * cost.r };
    scrypt(password.normalize('NFC'), salt, length, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}
