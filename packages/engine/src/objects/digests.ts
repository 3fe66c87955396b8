import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Crc64Nvme, crc32c } from '@svc/encoding';
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
