import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { KeyPurpose, KeyRing } from './key-ring.ts';

const version = 0x01;
const saltLength = 16;
const nonceLength = 12;
const tagLength = 16;

/** `version | salt | nonce | ciphertext | tag`, AES-256-GCM; `boundTo` makes a box useless in another record. */
export function sealSecret(
  keys: KeyRing,
  secret: string,
  boundTo: string,
  purpose: KeyPurpose = 'svc/credential',
): Buffer {
  const salt = randomBytes(saltLength);
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv('aes-256-gcm', keys.keyFor(purpose, salt), nonce);
  cipher.setAAD(Buffer.from(boundTo));
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.from([version]), salt, nonce, ciphertext, cipher.getAuthTag()]);
}

/** Undefined when the box was made with another key, for another record, or was changed. */
export function openSecret(
  keys: KeyRing,
  box: Uint8Array,
  boundTo: string,
  purpose: KeyPurpose = 'svc/credential',
): string | undefined {
  const bytes = Buffer.from(box.buffer, box.byteOffset, box.byteLength);
  if (bytes[0] !== version || bytes.length < 1 + saltLength + nonceLength + tagLength) return undefined;
  const nonceAt = 1 + saltLength;
  const textAt = nonceAt + nonceLength;
  const tagAt = bytes.length - tagLength;
  const key = keys.keyFor(purpose, bytes.subarray(1, nonceAt));
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(nonceAt, textAt));
  decipher.setAAD(Buffer.from(boundTo));
  decipher.setAuthTag(bytes.subarray(tagAt));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(textAt, tagAt)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** What the box of a credential is bound to. */
export function credentialBinding(accessKeyId: string, username: string): string {
  return `${accessKeyId}\0${username}`;
}
