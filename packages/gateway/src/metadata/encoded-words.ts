import { S3Error } from '../errors/s3-error.ts';

const word = /=\?([^?\s]+)\?([QqBb])\?([^?\s]*)\?=/g;
const maxWordLength = 75;
const prefix = '=?utf-8?q?';
const suffix = '?=';

/** Decodes the RFC 2047 encoded-words of a header value; malformed words stay as they are. */
export function decodeWords(value: string): string {
  if (!value.includes('=?')) return value;
  let result = '';
  let end = 0;
  let afterWord = false;
  for (const match of value.matchAll(word)) {
    const [whole, charset = '', encoding = '', text = ''] = match;
    const bytes = encoding.toLowerCase() === 'b' ? decodeBase64(text) : decodeQ(text);
    if (bytes === undefined) continue;
    const between = value.slice(end, match.index);
    // Blanks between two encoded words only separate them.
    if (!(afterWord && /^[ \t]*$/.test(between))) result += between;
    result += decodeCharset(bytes, charset);
    end = match.index + whole.length;
    afterWord = true;
  }
  return result + value.slice(end);
}

function decodeCharset(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch (error) {
    throw new S3Error('InvalidArgument', `Metadata uses the unknown charset "${charset}".`, { cause: error });
  }
}

function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '') ? bytes : undefined;
}

function decodeQ(text: string): Buffer | undefined {
  if (/=(?![0-9A-Fa-f]{2})/.test(text)) return undefined;
  const plain = text
    .replaceAll('_', ' ')
    .replaceAll(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(plain, 'latin1');
}

const plainText = /^[\t\x20-\x7e]*$/;

/** A value for a response header: printable ASCII as is, anything else as Q-encoded UTF-8 words. */
export function encodeWords(value: string): string {
  if (plainText.test(value)) return value;
  const words: string[] = [];
  let current = '';
  for (const char of value) {
    const encoded = encodeQ(char);
    if (prefix.length + current.length + encoded.length + suffix.length > maxWordLength) {
      words.push(prefix + current + suffix);
      current = '';
    }
    current += encoded;
  }
  words.push(prefix + current + suffix);
  return words.join(' ');
}

function encodeQ(char: string): string {
  if (char === ' ') return '_';
  if (/^[!-~]$/.test(char) && char !== '=' && char !== '?' && char !== '_') return char;
  let text = '';
  for (const byte of Buffer.from(char, 'utf8'))
    text += `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return text;
}
