import { sigV4Encode } from '@svc/encoding';
import { S3Error } from '../errors/s3-error.ts';

/** How keys and prefixes are written in a listing: as they are, or percent-encoded for `encoding-type=url`. */
export function encodeListed(url: boolean): (text: string) => string {
  return url ? (text) => sigV4Encode(text, 'keep').replaceAll('%2A', '*') : (text) => text;
}

/** An opaque continuation token: letters, digits, `-` and `_` only, because some clients copy it unescaped. */
export function encodeToken(lastKey: string): string {
  return Buffer.from(`1:${lastKey}`, 'utf8').toString('base64url');
}

export function decodeToken(token: string): string {
  const text = Buffer.from(token, 'base64url').toString('utf8');
  if (!/^[A-Za-z0-9_-]+$/.test(token) || !text.startsWith('1:'))
    throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect');
  return text.slice(2);
}
