import { createHash, randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import {
  createCalls,
  endsSoon,
  expiryOf,
  forEachParallel,
  isPlainMd5,
  openObject,
  type Answer,
  type ObjectStats,
} from '@svc/client';
import { CliError } from '../errors.ts';
import type { AnswerBody } from '../http/answer-body.ts';
import type { NodeTransport } from '../http/transport.ts';
import { Backoff } from './backoff.ts';
import { DigestThreads, type ThreadDigest } from './digest-threads.ts';
import { PartFiles } from './part-files.ts';

const parallelRanges = 10;
const urlAttempts = 3;
/** Files from this size are digested in a thread, once there is enough to do for one. */
const threadFrom = 256 * 1024;
const worthAThread = 8 * 1024 * 1024;
/** Files from this size are digested while they are written, smaller ones afterwards, several at once. */
const piecewiseFrom = 8 * 1024 * 1024;
/** A URL that ends sooner is not begun with. */
const usableMs = 60_000;

export interface DownloaderOptions {
  readonly transport: NodeTransport;
  readonly repository: string;
  readonly ref: string;
  /** Read straight from the object store. */
  readonly presign: boolean;
  readonly partSize: number;
  readonly verifyChecksum: boolean;
}

export interface DownloadRequest {
  readonly path: string;
  /** Where the file goes; its folder exists. */
  readonly target: string;
  /** Its listing entry; requested when absent and needed. */
  readonly stats?: SignedSource | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** An object as listings and stats describe it, with a URL for it when they were asked to sign one. */
type SignedSource = Pick<
  ObjectStats,
  'size_bytes' | 'checksum' | 'physical_address' | 'physical_address_expiry'
>;

interface Digest {
  wrote(upTo: number, bytes: Buffer): void;
  finish(size: number): string | Promise<string>;
  drop(): void;
}

interface Received {
  readonly size: number;
  /** Absent when there is nothing to compare it with. */
  readonly md5: string | undefined;
  readonly checksum: string;
  readonly plainChecksum: boolean;
}

/** Fetches objects of one ref into files. A file appears under its name when it is complete, never before. */
export class Downloader {
  readonly #options: DownloaderOptions;
  readonly #files = new PartFiles();
  #threads: DigestThreads | undefined;
  #digested = 0;

  constructor(options: DownloaderOptions) {
    this.#options = options;
  }

  async download(request: DownloadRequest): Promise<void> {
    const part = `${request.target}.svcpart-${randomBytes(6).toString('hex')}`;
    const file = await this.#files.open(part);
    try {
      let received: Received;
      try {
        const stats = request.stats ?? (this.#options.presign ? await this.#stat(request.path) : undefined);
        const large = (stats?.size_bytes ?? 0) >= this.#options.partSize;
        received =
          this.#options.presign && large
            ? await this.#inRanges(request, file, part)
            : await this.#whole(request, file, part, stats);
      } finally {
        await this.#files.close(file);
      }
      this.#verify(request, received);
      await this.#files.complete(part, request.target);
    } catch (error) {
      rmSync(part, { force: true });
      throw error;
    }
  }

  async #stat(path: string): Promise<ObjectStats> {
    const { transport, repository, ref, presign } = this.#options;
    return createCalls(transport).get('/repositories/{repository}/refs/{ref}/objects/stat', {
      params: { path: { repository, ref }, query: { path, ...(presign && { presign: true }) } },
    });
  }

  /** What finds the MD5 of a file while it is written; undefined when nobody will ask for it. */
  #digest(part: string, stats: DownloadRequest['stats']): Digest | undefined {
    if (!this.#options.verifyChecksum) return undefined;
    if (stats !== undefined && !isPlainMd5(stats.checksum)) return undefined;
    const size = stats?.size_bytes ?? 0;
    this.#digested += size;
    if (size < threadFrom || this.#digested < worthAThread) return digestHere();
    const threads = this.#digestThreads();
    if (size >= piecewiseFrom) return threads.open(part);
    const digest = threads.openComplete();
    return {
      wrote: () => undefined,
      finish: (written) => digest.finish(part, written),
      drop: () => digest.drop(),
    };
  }

  #digestThreads(): DigestThreads {
    this.#threads ??= new DigestThreads();
    return this.#threads;
  }

  /** Reads one answer; after a broken connection it continues where it broke. */
  async #whole(
    request: DownloadRequest,
    file: number,
    part: string,
    stats: DownloadRequest['stats'],
  ): Promise<Received> {
    const { signal } = request;
    const backoff = new Backoff();
    let digest = this.#digest(part, stats);
    let at = 0;
    let most = 0;
    let etag: string | undefined;
    let plainChecksum: boolean;
    try {
      for (;;) {
        const answer = await this.#open(request, at);
        plainChecksum = !isKeyServiceEncrypted(answer);
        const tag = answer.header('etag');
        if (at > 0 && (answer.status !== 206 || tag !== etag)) {
          // The object has changed, or the store knows no ranges: start over.
          most = Math.max(most, at);
          request.onBytes?.(-at);
          at = 0;
          digest?.drop();
          digest = this.#digest(part, stats);
          if (answer.status === 206) {
            answer.discard();
            continue;
          }
        }
        etag = tag;
        const expected = at + Number(answer.header('content-length') ?? Number.NaN);
        try {
          await answer.body.forEach((chunk) => {
            writeAt(file, chunk, at);
            at += chunk.length;
            digest?.wrote(at, chunk);
            request.onBytes?.(chunk.length);
          });
          if (!Number.isNaN(expected) && at < expected) throw new Error('the connection ended early');
          break;
        } catch (error) {
          signal?.throwIfAborted();
          await backoff.wait(error, signal);
        }
      }
      // What an earlier try left behind the end.
      if (most > at) ftruncateSync(file, at);
      const checksum = stats?.checksum ?? (etag ?? '').replaceAll('"', '');
      return { size: at, md5: await digest?.finish(at), checksum, plainChecksum };
    } catch (error) {
      digest?.drop();
      throw error;
    }
  }

  /** At the store, when the listing has said where; else where the server points. */
  async #open(request: DownloadRequest, start: number): Promise<Answer<AnswerBody>> {
    const { transport, repository, ref, presign } = this.#options;
    const { path, signal, stats } = request;
    if (presign && isFresh(stats)) {
      const headers = start > 0 ? { range: `bytes=${start}-` } : {};
      const answer = await transport.store({ method: 'GET', url: stats.physical_address, headers, signal });
      if (answer.status === 200 || answer.status === 206) return answer;
      answer.discard();
    }
    return openObject(transport, {
      repository,
      ref,
      path,
      presign,
      ...(start > 0 && { range: { start } }),
      signal,
    });
  }

  /** Several ranges of a large object at once, each at its place in the file. */
  async #inRanges(request: DownloadRequest, file: number, part: string): Promise<Received> {
    const { stats } = request;
    const source = isFresh(stats) ? stats : await this.#stat(request.path);
    const digest =
      this.#options.verifyChecksum && isPlainMd5(source.checksum)
        ? this.#digestThreads().open(part)
        : undefined;
    try {
      const received = await this.#readRanges(request, source, file, digest);
      return { ...received, md5: await digest?.finish(received.size) };
    } catch (error) {
      digest?.drop();
      throw error;
    }
  }

  async #readRanges(
    request: DownloadRequest,
    from: SignedSource,
    file: number,
    digest: ThreadDigest | undefined,
  ): Promise<Omit<Received, 'md5'>> {
    const { partSize } = this.#options;
    let source = from;
    const size = source.size_bytes ?? 0;
    ftruncateSync(file, size);
    let plainChecksum = true;
    const written = new Set<number>();
    let inOrder = 0;
    let renewal: Promise<void> | undefined;
    const renew = (): Promise<void> => {
      renewal ??= this.#stat(request.path)
        .then((fresh) => {
          if (fresh.checksum !== source.checksum) {
            throw new CliError(`${request.path} was changed while it was downloaded`);
          }
          source = fresh;
        })
        .finally(() => {
          renewal = undefined;
        });
      return renewal;
    };
    const parts = Math.ceil(size / partSize);
    await forEachParallel(
      Array.from({ length: parts }, (_, index) => index),
      parallelRanges,
      async (index, stop) => {
        const start = index * partSize;
        const end = Math.min(start + partSize, size);
        const backoff = new Backoff();
        for (let refused = 0; ;) {
          const url = source.physical_address;
          if (expiryOf(url) !== undefined && endsSoon(url)) await renew();
          const answer = await this.#options.transport.store({
            method: 'GET',
            url: source.physical_address,
            headers: { range: `bytes=${start}-${end - 1}` },
            signal: stop,
          });
          if (answer.status === 403 && refused < urlAttempts) {
            answer.discard();
            refused += 1;
            await renew();
            continue;
          }
          if (answer.status !== 206) {
            answer.discard();
            throw new CliError(`download of ${request.path}: the object store answered ${answer.status}`);
          }
          plainChecksum &&= !isKeyServiceEncrypted(answer);
          try {
            await writeRange(file, answer, { start, end }, request.onBytes);
            written.add(index);
            while (written.delete(inOrder)) inOrder += 1;
            digest?.wrote(Math.min(inOrder * partSize, size));
            return;
          } catch (error) {
            stop.throwIfAborted();
            await backoff.wait(error, stop);
          }
        }
      },
      request.signal,
    );
    return { size, checksum: source.checksum, plainChecksum };
  }

  #verify(request: DownloadRequest, received: Received): void {
    const expected = request.stats?.size_bytes;
    if (expected !== undefined && expected !== received.size) {
      throw new CliError(
        `download of ${request.path}: received ${received.size} bytes instead of ${expected}`,
      );
    }
    if (!this.#options.verifyChecksum || !received.plainChecksum || !isPlainMd5(received.checksum)) return;
    const { md5 } = received;
    if (md5 === received.checksum) return;
    throw new CliError(
      `download of ${request.path}: the MD5 is ${md5}, the object's checksum ${received.checksum} (local.verify_checksum=false takes it as it is)`,
    );
  }
}

/** With a key management service the store's checksum looks like an MD5 but is not. */
function isKeyServiceEncrypted(answer: Answer<unknown>): boolean {
  return answer.header('x-amz-server-side-encryption') === 'aws:kms';
}

async function writeRange(
  file: number,
  answer: Answer<AnswerBody>,
  range: { readonly start: number; readonly end: number },
  onBytes: ((count: number) => void) | undefined,
): Promise<void> {
  let at = range.start;
  try {
    await answer.body.forEach((chunk) => {
      if (at + chunk.length > range.end) throw new Error('the store sent more than the range');
      writeAt(file, chunk, at);
      at += chunk.length;
      onBytes?.(chunk.length);
    });
    if (at < range.end) throw new Error('the connection ended early');
  } catch (error) {
    onBytes?.(range.start - at);
    throw error;
  }
}

/** Whether there is a URL that can be used for some time. */
function isFresh(stats: SignedSource | undefined): stats is SignedSource {
  const { physical_address: address = '', physical_address_expiry: expiry = 0 } = stats ?? {};
  return /^https?:/.test(address) && expiry * 1000 - Date.now() > usableMs;
}

function digestHere(): Digest {
  const hash = createHash('md5');
  return {
    wrote: (_upTo, bytes) => void hash.update(bytes),
    finish: () => hash.digest('hex'),
    drop: () => undefined,
  };
}

/** A nearly full disk takes only a part of what it is given, and refuses the next. */
function writeAt(file: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }
}

export function md5OfFile(path: string): string {
  const hash = createHash('md5');
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const count = readSync(file, (piece ??= Buffer.allocUnsafeSlow(256 * 1024)));
      if (count === 0) return hash.digest('hex');
      hash.update(piece.subarray(0, count));
    }
  } finally {
    closeSync(file);
  }
}

/** What files are read into, piece by piece. */
let piece: Buffer | undefined;
