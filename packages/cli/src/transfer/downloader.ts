import { createHash, randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
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

const parallelRanges = 10;
const urlAttempts = 3;

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
  readonly stats?: Pick<ObjectStats, 'size_bytes' | 'checksum'> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onBytes?: ((count: number) => void) | undefined;
}

interface Received {
  readonly size: number;
  /** Known when the bytes came in order. */
  readonly md5: string | undefined;
  readonly checksum: string;
  readonly plainChecksum: boolean;
}

/** Fetches objects of one ref into files. A file appears under its name when it is complete, never before. */
export class Downloader {
  readonly #options: DownloaderOptions;

  constructor(options: DownloaderOptions) {
    this.#options = options;
  }

  async download(request: DownloadRequest): Promise<void> {
    const part = `${request.target}.svcpart-${randomBytes(6).toString('hex')}`;
    // A file of the page cache is opened, written and renamed faster than another thread is asked to do it.
    const file = openSync(part, 'wx', 0o666);
    try {
      let received: Received;
      try {
        const stats = request.stats ?? (this.#options.presign ? await this.#stat(request.path) : undefined);
        const large = (stats?.size_bytes ?? 0) >= this.#options.partSize;
        received =
          this.#options.presign && large
            ? await this.#inRanges(request, file)
            : await this.#whole(request, file, stats?.checksum);
      } finally {
        closeSync(file);
      }
      this.#verify(request, part, received);
      renameSync(part, request.target);
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

  /** Reads one answer; after a broken connection it continues where it broke. */
  async #whole(request: DownloadRequest, file: number, checksum: string | undefined): Promise<Received> {
    const { transport, repository, ref, presign } = this.#options;
    const { signal } = request;
    const backoff = new Backoff();
    let hash = createHash('md5');
    let at = 0;
    let most = 0;
    let etag: string | undefined;
    for (;;) {
      const answer = await openObject(transport, {
        repository,
        ref,
        path: request.path,
        presign,
        ...(at > 0 && { range: { start: at } }),
        signal,
      });
      const plainChecksum = !isKeyServiceEncrypted(answer);
      const tag = answer.header('etag');
      if (at > 0 && (answer.status !== 206 || tag !== etag)) {
        // The object has changed, or the store knows no ranges: start over.
        most = Math.max(most, at);
        request.onBytes?.(-at);
        at = 0;
        hash = createHash('md5');
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
          hash.update(chunk);
          at += chunk.length;
          request.onBytes?.(chunk.length);
        });
        if (!Number.isNaN(expected) && at < expected) throw new Error('the connection ended early');
        // What an earlier try left behind the end.
        if (most > at) ftruncateSync(file, at);
        const known = checksum ?? (etag ?? '').replaceAll('"', '');
        return { size: at, md5: hash.digest('hex'), checksum: known, plainChecksum };
      } catch (error) {
        signal?.throwIfAborted();
        await backoff.wait(error, signal);
      }
    }
  }

  /** Several ranges of a large object at once, each at its place in the file. */
  async #inRanges(request: DownloadRequest, file: number): Promise<Received> {
    const { partSize } = this.#options;
    let source = await this.#stat(request.path);
    const size = source.size_bytes ?? 0;
    ftruncateSync(file, size);
    let plainChecksum = true;
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
            return;
          } catch (error) {
            stop.throwIfAborted();
            await backoff.wait(error, stop);
          }
        }
      },
      request.signal,
    );
    return { size, md5: undefined, checksum: source.checksum, plainChecksum };
  }

  #verify(request: DownloadRequest, part: string, received: Received): void {
    const expected = request.stats?.size_bytes;
    if (expected !== undefined && expected !== received.size) {
      throw new CliError(
        `download of ${request.path}: received ${received.size} bytes instead of ${expected}`,
      );
    }
    if (!this.#options.verifyChecksum || !received.plainChecksum || !isPlainMd5(received.checksum)) return;
    const md5 = received.md5 ?? md5OfFile(part);
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
