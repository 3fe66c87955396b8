import { randomBytes } from 'node:crypto';
import type { KeyPair } from '../model.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** `AKIAJ` + 14 characters + `Q`, and 40 characters of secret. The alphabet has 32 letters: five bits, no bias. */
export function generateKeyPair(): KeyPair {
  let accessKeyId = 'AKIAJ';
  for (const byte of randomBytes(14)) accessKeyId += alphabet[byte & 31] ?? '';
  return { accessKeyId: `${accessKeyId}Q`, secretAccessKey: randomBytes(30).toString('base64') };
}
