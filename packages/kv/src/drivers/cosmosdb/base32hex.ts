const alphabet = Buffer.from('0123456789ABCDEFGHIJKLMNOPQRSTUV');
const values = new Uint8Array(128);
alphabet.forEach((letter, value) => (values[letter] = value));

/**
 * RFC 4648 base32hex without padding, so that text compares as the bytes do. (The padding sign sorts behind the digits:
 * with it, a key would come after another that begins with it.)
 */
export function encode(bytes: Uint8Array): string {
  const text = Buffer.allocUnsafe(Math.ceil((bytes.length * 8) / 5));
  let length = 0;
  let bits = 0;
  let pending = 0;
  for (const byte of bytes) {
    pending = ((pending << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text[length++] = alphabet[(pending >>> bits) & 31] ?? 0;
    }
  }
  if (bits > 0) text[length] = alphabet[(pending << (5 - bits)) & 31] ?? 0;
  return text.toString('latin1');
}

/** The same with padding, where order does not matter. */
export function encodePadded(bytes: Uint8Array): string {
  const text = encode(bytes);
  return text.padEnd(Math.ceil(text.length / 8) * 8, '=');
}

/** Reads both forms. */
export function decode(text: string): Buffer {
  const end = text.indexOf('=');
  const length = end < 0 ? text.length : end;
  const bytes = Buffer.allocUnsafe(Math.floor((length * 5) / 8));
  let bits = 0;
  let pending = 0;
  let position = 0;
  for (let index = 0; index < length; index++) {
    pending = ((pending << 5) | (values[text.charCodeAt(index)] ?? 0)) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[position++] = (pending >>> bits) & 0xff;
    }
  }
  return bytes;
}
