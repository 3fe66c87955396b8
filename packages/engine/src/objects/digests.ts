import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Crc64Nvme, crc32c } from '@svc/encoding';
import type { IHasher } from 'hash-wasm';
import type { DigestName } from '../face/objects.ts';

export type AnyDigestName = DigestName | 'md5';

/** One digest fed piece by piece; the same on the event loop and in a hashing thread. */
export interface RunningDigest {
  update(chunk: Uint8Array): void;
  digest(): Buffer;
}

export function createDigest(name: AnyDigestName): RunningDigest {
  switch (name) {
    case 'crc32':
      return new RunningCrc32((chunk, state) => crc32(chunk, state));
    case 'crc32c':
      return new RunningCrc32((chunk, state) => crc32c(chunk, state));
    case 'crc64nvme':
      return new Crc64Nvme();
    case 'md5':
    case 'sha1':
    case 'sha256':
    case 'sha512':
      return createHash(name);
    case 'xxhash64':
    case 'xxhash3':
    case 'xxhash128':
      return new RunningXxhash(name);
  }
}

type XxhashName = 'xxhash64' | 'xxhash3' | 'xxhash128';

/** One of each, made ready asynchronously and used at once from then on. */
const xxhashes = new Map<AnyDigestName, IHasher>();

const xxhashMakers = {
  xxhash64: 'createXXHash64',
  xxhash3: 'createXXHash3',
  xxhash128: 'createXXHash128',
} as const;

/** Makes `createDigest` ready for these names. Few ask for one of xxHash, so its code is read when somebody does. */
export async function loadDigests(names: readonly AnyDigestName[]): Promise<void> {
  for (const name of names) {
    if (!isXxhash(name) || xxhashes.has(name)) continue;
    const makers = await import('hash-wasm');
    xxhashes.set(name, await makers[xxhashMakers[name]]());
  }
}

function isXxhash(name: AnyDigestName): name is XxhashName {
  return name in xxhashMakers;
}

/** Several bodies take turns in one hasher: each puts its state in before its chunk and takes it out afterwards. */
class RunningXxhash implements RunningDigest {
  readonly #hasher: IHasher;
  #state: Uint8Array;

  constructor(name: XxhashName) {
    const hasher = xxhashes.get(name);
    if (hasher === undefined) throw new Error(`${name} was not loaded`);
    this.#hasher = hasher;
    this.#state = hasher.init().save();
  }

  update(chunk: Uint8Array): void {
    this.#state = this.#hasher.load(this.#state).update(chunk).save();
  }

  digest(): Buffer {
    return Buffer.from(this.#hasher.load(this.#state).digest('binary'));
  }
}

/** Four bytes, big-endian, as checksum headers carry them. */
class RunningCrc32 implements RunningDigest {
  readonly #advance: (chunk: Uint8Array, state: number) => number;
  #state = 0;

  constructor(advance: (chunk: Uint8Array, state: number) => number) {
    this.#advance = advance;
  }

  update(chunk: Uint8Array): void {
    this.#state = this.#advance(chunk, this.#state);
  }

  digest(): Buffer {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeUInt32BE(this.#state >>> 0);
    return bytes;
  }
}
