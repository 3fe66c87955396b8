import { createHash, type Hash } from 'node:crypto';
import { compareBytes } from './byte-order.ts';

/** The typed encodings that object, range and commit ids are hashed from. */
export class IdentityHash {
  readonly #hash: Hash = createHash('sha256');

  integer(value: number | bigint): this {
    this.#hash.update(encodeInteger(value));
    return this;
  }

  bytes(value: Uint8Array): this {
    this.#hash.update(Buffer.of(0x00)).update(encodeInteger(value.length)).update(value);
    return this;
  }

  string(value: string): this {
    this.#hash.update(encodeString(value));
    return this;
  }

  strings(values: readonly string[]): this {
    this.#hash.update(Buffer.of(0x03)).update(encodeInteger(values.length));
    for (const value of values) this.#hash.update(encodeString(value));
    return this;
  }

  /** Keys in byte order; no map and an empty map are equal. */
  map(value: Readonly<Record<string, string>>): this {
    this.#hash.update(encodeStringMap(value));
    return this;
  }

  /** Embeds another identity, itself a digest. */
  embedded(identity: Uint8Array): this {
    this.#hash.update(Buffer.of(0x05));
    return this.bytes(identity);
  }

  digest(): Buffer {
    return this.#hash.digest();
  }

  hex(): string {
    return this.#hash.digest('hex');
  }
}

export function encodeStringMap(value: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(value).map(([key, text]) => [Buffer.from(key), text] as const);
  entries.sort(([a], [b]) => compareBytes(a, b));
  const parts = [Buffer.of(0x04), encodeInteger(entries.length)];
  for (const [key, text] of entries) parts.push(encodeString(key), encodeString(text));
  return Buffer.concat(parts);
}

function encodeInteger(value: number | bigint): Buffer {
  const encoded = Buffer.allocUnsafe(10);
  encoded[0] = 0x02;
  encoded[1] = 0x08;
  encoded.writeBigInt64BE(BigInt(value), 2);
  return encoded;
}

function encodeString(value: string | Buffer): Buffer {
  const text = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([Buffer.of(0x01), encodeInteger(text.length), text]);
}
