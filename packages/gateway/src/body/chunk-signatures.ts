import { createHash, type Hash } from 'node:crypto';
import type { ChunkSigner } from '@svc/encoding';
import { S3Error } from '../errors/s3-error.ts';
import { equalSignatures } from '../signature/equal.ts';

/** Verifies the chain of chunk signatures of one body; each one signs the one before. */
export class ChunkSignatures {
  readonly #signer: ChunkSigner;
  #hash: Hash = createHash('sha256');

  constructor(signer: ChunkSigner) {
    this.#signer = signer;
  }

  update(data: Buffer): void {
    this.#hash.update(data);
  }

  /** Call at the end of each chunk, the empty last one included. */
  endChunk(given: string | undefined): void {
    check(this.#signer.chunk(this.#hash.digest('hex')), given);
    this.#hash = createHash('sha256');
  }

  endTrailers(trailers: ReadonlyMap<string, string>, given: string | undefined): void {
    check(this.#signer.trailer([...trailers]), given);
  }
}

function check(expected: string, given: string | undefined): void {
  if (given === undefined || !equalSignatures(expected, given))
    throw new S3Error('SignatureDoesNotMatch', 'The signature of a chunk of the body does not match.');
}
