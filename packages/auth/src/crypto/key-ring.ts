import { hkdfSync } from 'node:crypto';

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

/** Keys derived from the root key. */
export class KeyRing {
  readonly #root: Uint8Array;

  constructor(root: Uint8Array) {
    this.#root = root;
  }

  keyFor(purpose: KeyPurpose, salt: Uint8Array = new Uint8Array()): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#root, salt, purpose, 32));
  }
}
