import { AuthError } from './errors.ts';
import type { KeyPair } from './model.ts';

export type IdKind = 'User' | 'Group' | 'Policy';

/** Characters that mean something in a policy must not come in through a name. */
const reserved = /[*?${}\p{Cc}]/u;

/** Rules for ids created through the API. Throws `invalid`. */
export function checkId(kind: IdKind, id: string): void {
  if (id === '' || id.includes('/'))
    throw new AuthError('invalid', 'validation error: id must not be empty or hold "/"');
  if (id.includes('%')) throw new AuthError('invalid', `${kind} name cannot contain '%'`);
  if (!/^.{1,256}$/su.test(id) || reserved.test(id) || !id.isWellFormed()) {
    throw new AuthError(
      'invalid',
      `validation error: ${kind.toLowerCase()} id must have 1 to 256 characters, none of * ? $ { } and no control characters`,
    );
  }
}

/** Ids from an identity provider may hold any character but the separator of our keys. */
export function checkForeignId(id: string): void {
  if (id === '' || id.includes('/'))
    throw new AuthError('invalid', 'validation error: id must not be empty or hold "/"');
}

/** Basic splits at the first ":", signatures at "/". */
const accessKeyPattern = /^[^:/,=\s]{3,128}$/u;

export function isAccessKeyId(text: string): boolean {
  return accessKeyPattern.test(text);
}

export function checkKeyPair(key: KeyPair): void {
  if (!isAccessKeyId(key.accessKeyId)) {
    throw new AuthError(
      'invalid',
      'access_key_id must have 3 to 128 characters, none of ":", "/", ",", "=" or white space',
    );
  }
  const bytes = Buffer.byteLength(key.secretAccessKey);
  if (bytes === 0 || bytes > 256)
    throw new AuthError('invalid', 'secret_access_key must have 1 to 256 bytes');
}

/** Syntax only: one "@", a dotted or plain domain, no white space. */
export function isEmailAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@"(),:;<>[\\\]]{1,64}@[^\s@.]+(?:\.[^\s@.]+)*$/u.test(text);
}
