import { hash } from 'node:crypto';
import { Transform, type Readable, type TransformCallback } from 'node:stream';
import type { BodySource } from '@svc/block';
import { EngineError } from '../errors.ts';
import type { BodyDigests, DigestName } from '../face/objects.ts';
import { createDigest, loadDigests, type AnyDigestName } from './digests.ts';
import type { HashPool, PooledHash } from './hash-pool.ts';

/** Bodies up to this size are read whole and hashed in place; larger ones are hashed by other threads. */
export const inlineBytes = 1024 * 1024;

export interface HashedBody {
  /** To be given to the store. */
  readonly body: BodySource;
  /** Known before the store has the body, when that is in memory. */
  readonly md5?: Buffer;
  /** Whether the MD5 is left to the store, because a trusted one computes it anyway. */
  readonly leavesMd5: boolean;
  /** Call once the store has taken the whole body; `told` is the MD5 in hex where it is left to the store. */
  digests(told?: string): Promise<BodyDigests>;
}

/** Bodies that are stored by one request, which is what stores tell the MD5 of. */
const oneRequestBytes = 5 * 1024 * 1024 * 1024;

/** Wraps a body so that it is hashed on its way to the store. */
export async function hashBody(
  pool: HashPool,
  source: BodySource,
  extra: readonly DigestName[],
  storeIsTrusted = false,
): Promise<HashedBody> {
  await loadDigests(extra);
  if (source instanceof Uint8Array) return hashedBytes(source, extra);
  if (source.size >= 0 && source.size <= inlineBytes) {
    return hashedBytes(await readWhole(source.stream, source.size), extra);
  }
  const leavesMd5 = storeIsTrusted && source.size >= 0 && source.size <= oneRequestBytes;
  if (leavesMd5 && extra.length === 0) {
    // The store refuses a body of another length than announced.
    const { size } = source;
    return {
      body: source,
      leavesMd5,
      digests: async (told) => ({ md5: toldMd5(told), size, extra: {} }),
    };
  }
  const tap = new HashingTap(pool.open(leavesMd5 ? extra : ['md5', ...extra]));
  source.stream.once('error', (error) => tap.destroy(error));
  source.stream.once('close', () => {
    if (!source.stream.readableEnded) tap.destroy(new Error('the body ended early'));
  });
  const body = { stream: source.stream.pipe(tap), size: source.size };
  const finish = async (told?: string): Promise<BodyDigests> => {
    const digests = await tap.hash.digests();
    const md5 = leavesMd5 ? toldMd5(told) : (digests.shift() ?? Buffer.alloc(0));
    return { md5, size: tap.size, extra: named(extra, digests) };
  };
  if (leavesMd5) return { body, leavesMd5, digests: finish };
  let finished: Promise<BodyDigests> | undefined;
  const digests = (): Promise<BodyDigests> => (finished ??= finish());
  const md5 = async (): Promise<string> => (await digests()).md5.toString('hex');
  return { body: { ...body, md5 }, leavesMd5, digests };
}

/** Nothing may be compared with an MD5 that nobody computed; the next try is hashed here. */
function toldMd5(told: string | undefined): Buffer {
  if (told !== undefined) return Buffer.from(told, 'hex');
  throw new EngineError('busy', 'the object store no longer tells the MD5 of what it takes: send it again');
}

function hashedBytes(bytes: Uint8Array, extra: readonly DigestName[]): HashedBody {
  const md5 = hash('md5', bytes, 'buffer');
  return {
    body: bytes,
    md5,
    leavesMd5: false,
    digests: () =>
      Promise.resolve({
        md5,
        size: bytes.length,
        extra: named(
          extra,
          extra.map((name) => digestOf(name, bytes)),
        ),
      }),
  };
}

function digestOf(name: AnyDigestName, bytes: Uint8Array): Buffer {
  const digest = createDigest(name);
  digest.update(bytes);
  return digest.digest();
}

function named(
  names: readonly DigestName[],
  digests: readonly Buffer[],
): Partial<Record<DigestName, Buffer>> {
  const result: Partial<Record<DigestName, Buffer>> = {};
  for (const [index, name] of names.entries()) {
    const digest = digests[index];
    if (digest !== undefined) result[name] = digest;
  }
  return result;
}

/** Passes chunks on while other threads hash them; waits when they cannot keep up. */
class HashingTap extends Transform {
  readonly hash: PooledHash;
  size = 0;
  #finished = false;

  constructor(pooled: PooledHash) {
    super({ highWaterMark: 1024 * 1024 });
    this.hash = pooled;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.size += chunk.length;
    void this.#pass(chunk, done);
  }

  async #pass(chunk: Buffer, done: TransformCallback): Promise<void> {
    try {
      await this.hash.update(chunk);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    this.#finished = true;
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#finished) this.hash.drop();
    done(error);
  }
}

function readWhole(stream: Readable, size: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > size) stream.destroy(new Error(`the body is longer than the ${size} bytes announced`));
      else chunks.push(chunk);
    });
    stream.once('error', reject);
    stream.once('end', () => {
      const [only] = chunks;
      if (length < size) reject(new Error(`the body has ${length} of the ${size} bytes announced`));
      else resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
    });
    stream.once('close', () => reject(new Error('the body ended early')));
  });
}
