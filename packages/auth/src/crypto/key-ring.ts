import { hkdfSync, scrypt } from 'node:crypto';

/** What a derived key may be used for; one purpose's key is useless for another. */
export type KeyPurpose =
  | 'svc/jwt-login'
  | 'svc/jwt-reset'
  | 'svc/oidc-state'
  | 'svc/credential'
  | 'svc/webhook'
  | 'svc/temporary-token'
  | 'svc/temporary-secret'
  | 'svc/login-cache';

/** Keys derived from `auth.encrypt.secret_key`; the slow derivation happens once per process. */
export class KeyRing {
  readonly #root: Buffer;

  private constructor(root: Buffer) {
    this.#root = root;
  }

  static async derive(secretKey: string): Promise<KeyRing> {
    const root = await new Promise<Buffer>((resolve, reject) => {
      scrypt(secretKey, 'svc/auth/v1', 32, { N: 32_768, r: 8, p: 1, maxmem: 1 << 26 }, (error, key) => {
        if (error === null) resolve(key);
        else reject(error);
      });
    });
    return new KeyRing(root);
  }

  keyFor(purpose: KeyPurpose, salt: Uint8Array = new Uint8Array()): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#root, salt, purpose, 32));
  }
}
