import { scryptSync, timingSafeEqual } from 'node:crypto';

const saltLength = 8;
const nonceLength = 24;
const tagLength = 16;

/**
 * Opens a secret as lakeFS stores it: salt, nonce and an XSalsa20-Poly1305 box. Node.js has neither primitive. Undefined
 * when it was made with another key.
 */
export function openLakefsSecret(secretKey: string, sealed: Buffer): string | undefined {
  if (sealed.length < saltLength + nonceLength + tagLength) return undefined;
  const salt = sealed.subarray(0, saltLength);
  const nonce = sealed.subarray(saltLength, saltLength + nonceLength);
  const box = sealed.subarray(saltLength + nonceLength);
  const key = scryptSync(secretKey, salt, 32, { N: 512, r: 8, p: 1 });
  return openBox(key, nonce, box)?.toString('utf8');
}

/** The `secretbox` of NaCl: the first 32 bytes of the stream are the key of the tag. */
export function openBox(key: Buffer, nonce: Buffer, box: Buffer): Buffer | undefined {
  const subKey = hsalsa20(key, nonce.subarray(0, 16));
  const [tag, text] = [box.subarray(0, tagLength), box.subarray(tagLength)];
  const stream = salsa20(subKey, nonce.subarray(16), 32 + text.length);
  if (!timingSafeEqual(poly1305(stream.subarray(0, 32), text), tag)) return undefined;
  return Buffer.from(text.map((byte, index) => byte ^ (stream[32 + index] ?? 0)));
}

/** "expand 32-byte k" */
const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
/** The places of the constants, of the nonce with the counter, and of the key in a block. */
const constantsAt = [0, 5, 10, 15] as const;
const inputAt = [6, 7, 8, 9] as const;
const keyAt = [1, 2, 3, 4, 11, 12, 13, 14] as const;

/** The quarter rounds of a double round: columns, then rows. */
const quarters = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
] as const;

function blockOf(key: Buffer, input: Buffer): Uint32Array {
  const block = new Uint32Array(16);
  for (const [index, at] of constantsAt.entries()) block[at] = constants[index] ?? 0;
  for (const [index, at] of inputAt.entries()) block[at] = input.readUInt32LE(4 * index);
  for (const [index, at] of keyAt.entries()) block[at] = key.readUInt32LE(4 * index);
  return block;
}

function rounds(block: Uint32Array): void {
  const step = (to: number, from: number, and: number, by: number): void => {
    const sum = ((block[from] ?? 0) + (block[and] ?? 0)) >>> 0;
    block[to] = (block[to] ?? 0) ^ ((sum << by) | (sum >>> (32 - by)));
  };
  for (let round = 0; round < 10; round++) {
    for (const [a, b, c, d] of quarters) {
      step(b, a, d, 7);
      step(c, b, a, 9);
      step(d, c, b, 13);
      step(a, d, c, 18);
    }
  }
}

function hsalsa20(key: Buffer, input: Buffer): Buffer {
  const block = blockOf(key, input);
  rounds(block);
  const out = Buffer.alloc(32);
  for (const [index, at] of [...constantsAt, ...inputAt].entries())
    out.writeUInt32LE(block[at] ?? 0, 4 * index);
  return out;
}

function salsa20(key: Buffer, nonce: Buffer, length: number): Buffer {
  const out = Buffer.alloc(Math.ceil(length / 64) * 64);
  for (let counter = 0; counter * 64 < length; counter++) {
    const input = Buffer.alloc(16);
    nonce.copy(input);
    input.writeUInt32LE(counter, 8);
    const first = blockOf(key, input);
    const block = Uint32Array.from(first);
    rounds(block);
    for (let word = 0; word < 16; word++)
      out.writeUInt32LE(((block[word] ?? 0) + (first[word] ?? 0)) >>> 0, 64 * counter + 4 * word);
  }
  return out.subarray(0, length);
}

const prime = (1n << 130n) - 5n;
const clamp = 0x0ffffffc0ffffffc0ffffffc0fffffffn;

function poly1305(key: Buffer, text: Buffer): Buffer {
  const r = littleEndian(key.subarray(0, 16)) & clamp;
  let sum = 0n;
  for (let at = 0; at < text.length; at += 16) {
    const part = text.subarray(at, at + 16);
    sum = ((sum + littleEndian(part) + (1n << BigInt(8 * part.length))) * r) % prime;
  }
  const tag = (sum + littleEndian(key.subarray(16, 32))) & ((1n << 128n) - 1n);
  return Buffer.from(tag.toString(16).padStart(32, '0'), 'hex').reverse();
}

function littleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex') || '0'}`);
}
