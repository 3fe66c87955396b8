import { scrypt } from 'node:crypto';

/** What all keys come from, out of `auth.encrypt.secret_key`. Slow on purpose: a server does it once. */
export function deriveRootKey(secretKey: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(secretKey, 'svc/auth/v1', 32, { N: 32_768, r: 8, p: 1, maxmem: 1 << 26 }, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}
