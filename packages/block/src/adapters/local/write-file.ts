import {
  close,
  closeSync,
  constants,
  fdatasync,
  ftruncate,
  open,
  openSync,
  unlink,
  write,
  writeSync,
  writev,
} from 'node:fs';
import type { BodySource, BodyStream } from '../../adapter.ts';
import { checkBodySize, eachChunk } from '../../body.ts';
import { InlineCalls } from './inline-calls.ts';

const exclusive = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0);

/** Chunks are gathered to about this much before one write; twice this is the most a stream holds in memory. */
const writeUnit = 1024 * 1024;
/** A long body is flushed behind the writer every so many bytes, so that the last sync has little left to do. */
const flushUnit = 32 * 1024 * 1024;

export interface WriteOptions {
  readonly sync: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Sees every chunk before it is written. */
  readonly onChunk?: ((chunk: Uint8Array) => void) | undefined;
  /**
   * What else must be on disk, such as the file's entry, once all of it is written. Runs beside the sync of the data: the
   * journal of the disk then serves both at once.
   */
  readonly beside?: (() => Promise<unknown>) | undefined;
  /**
   * Leaves the name of a file that cannot be finished: there may be another's file of that name by then. Only what was
   * written goes.
   */
  readonly leaveUnfinished?: boolean | undefined;
}

/**
 * Creates the file with the body, on disk when `sync`; returns its size. On failure the file is gone again, or empty
 * when its name is to be left.
 * The caller guards and discards the body.
 */
export async function writeNewFile(path: string, body: BodySource, options: WriteOptions): Promise<number> {
  if (body instanceof Uint8Array) {
    options.signal?.throwIfAborted();
    options.onChunk?.(body);
    await writeBytes(path, body, options);
    return body.length;
  }
  const fd = await openNew(path);
  try {
    const size = await writeStream(fd, body, options);
    const syncs = [options.sync ? dataSync(fd) : Promise.resolve(), options.beside?.() ?? Promise.resolve()];
    // The descriptor is closed next: nothing may still be using it.
    await Promise.allSettled(syncs);
    await Promise.all(syncs);
    await closeFile(fd);
    return size;
  } catch (error) {
    // Cleaning up may fail for the same reason as the write, and that one is reported.
    if (options.leaveUnfinished === true) await emptyFile(fd).catch(() => undefined);
    await closeFile(fd).catch(() => undefined);
    if (options.leaveUnfinished !== true) await removeFile(path).catch(() => undefined);
    throw error;
  }
}

const inline = new InlineCalls();
/** More than this is not copied into the page cache on the event loop. */
const inlineBytes = 64 * 1024;

type Settle = (error: unknown) => void;

/**
 * By callbacks: this is the path of every small object, and promises per step cost a third of it. Handing a call to
 * the thread pool costs more than creating the file and copying it to the page cache, so only the syncs go there,
 * unless the disk has become slow.
 */
function writeBytes(path: string, bytes: Uint8Array, options: WriteOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle: Settle = (error) => {
      if (error === null) resolve();
      else reject(error);
    };
    const began = bytes.length <= inlineBytes ? inline.begin() : undefined;
    if (began === undefined) {
      createOnThreads(path, bytes, options, settle);
      return;
    }
    createInline(path, bytes, options, settle);
    inline.ended(began);
  });
}

function createInline(path: string, bytes: Uint8Array, options: WriteOptions, settle: Settle): void {
  let fd: number;
  try {
    fd = openSync(path, exclusive, 0o640);
  } catch (error) {
    settle(error);
    return;
  }
  try {
    for (let offset = 0; offset < bytes.length;) offset += writeSync(fd, bytes, offset);
  } catch (error) {
    abandon(fd, path, error, options, settle);
    return;
  }
  finish(fd, path, options, settle);
}

function createOnThreads(path: string, bytes: Uint8Array, options: WriteOptions, settle: Settle): void {
  open(path, exclusive, 0o640, (openError, fd) => {
    if (openError !== null) {
      settle(openError);
      return;
    }
    const writeFrom = (offset: number): void => {
      write(fd, bytes, offset, bytes.length - offset, null, (error, count) => {
        if (error !== null) abandon(fd, path, error, options, settle);
        else if (offset + count < bytes.length) writeFrom(offset + count);
        else finish(fd, path, options, settle);
      });
    };
    writeFrom(0);
  });
}

function finish(fd: number, path: string, options: WriteOptions, settle: Settle): void {
  let waiting = 1;
  let failure: unknown = null;
  const synced = (error: unknown): void => {
    failure ??= error;
    waiting -= 1;
    if (waiting > 0) return;
    if (failure === null) closeWritten(fd, path, options, settle);
    else abandon(fd, path, failure, options, settle);
  };
  if (options.sync) {
    waiting += 1;
    fdatasync(fd, synced);
  }
  if (options.beside !== undefined) {
    waiting += 1;
    options.beside().then(() => synced(null), synced);
  }
  synced(null);
}

function closeWritten(fd: number, path: string, options: WriteOptions, settle: Settle): void {
  try {
    closeSync(fd);
  } catch (error) {
    discard(path, error, options, settle);
    return;
  }
  settle(null);
}

function abandon(fd: number, path: string, error: unknown, options: WriteOptions, settle: Settle): void {
  const end = (): void => close(fd, () => discard(path, error, options, settle));
  // By descriptor: it is our file, whatever has its name now.
  if (options.leaveUnfinished === true) ftruncate(fd, 0, end);
  else end();
}

function discard(path: string, error: unknown, options: WriteOptions, settle: Settle): void {
  if (options.leaveUnfinished === true) settle(error);
  else unlink(path, () => settle(error));
}

async function writeStream(fd: number, body: BodyStream, options: WriteOptions): Promise<number> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let size = 0;
  let unflushed = 0;
  let writing: Promise<void> | undefined;
  let flushing: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;

  const startWrite = (): void => {
    const chunks = pending;
    const bytes = pendingBytes;
    pending = [];
    pendingBytes = 0;
    writing = writeAll(fd, chunks).then(
      () => {
        writing = undefined;
        unflushed += bytes;
        if (options.sync && unflushed >= flushUnit && flushing === undefined) {
          unflushed = 0;
          flushing = dataSync(fd).then(
            () => {
              flushing = undefined;
            },
            (error: unknown) => {
              flushing = undefined;
              failure ??= { error };
            },
          );
        }
        if (pendingBytes >= writeUnit) startWrite();
      },
      (error: unknown) => {
        writing = undefined;
        failure ??= { error };
      },
    );
  };
  // A finished write starts the next one with all that is pending, so waiting for one makes room.
  const makeRoom = async (): Promise<void> => {
    await writing;
    if (failure !== undefined) throw failure.error;
  };

  try {
    await eachChunk(
      body.stream,
      (chunk) => {
        if (failure !== undefined) throw failure.error;
        options.onChunk?.(chunk);
        pending.push(chunk);
        pendingBytes += chunk.length;
        size += chunk.length;
        if (body.size >= 0 && size > body.size) checkBodySize(body.size, size);
        if (pendingBytes < writeUnit) return undefined;
        if (writing === undefined) startWrite();
        return pendingBytes >= writeUnit ? makeRoom() : undefined;
      },
      options.signal,
    );
    checkBodySize(body.size, size);
    await writing;
    if (pendingBytes > 0) startWrite();
    await writing;
    await flushing;
    if (failure !== undefined) throw failure.error;
    return size;
  } catch (error) {
    // The descriptor is closed next: nothing may still be using it.
    pending = [];
    pendingBytes = 0;
    await writing;
    await flushing;
    throw error;
  }
}

function writeAll(fd: number, chunks: Buffer[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const step = (rest: Buffer[]): void => {
      writev(fd, rest, (error, written) => {
        if (error !== null) {
          reject(error);
          return;
        }
        let left = written;
        let index = 0;
        while (index < rest.length && left >= (rest[index]?.length ?? 0)) left -= rest[index++]?.length ?? 0;
        if (index === rest.length) {
          resolve();
          return;
        }
        const next = rest.slice(index);
        const [first] = next;
        if (first !== undefined) next[0] = first.subarray(left);
        step(next);
      });
    };
    step(chunks);
  });
}

function openNew(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    open(path, exclusive, 0o640, (error, fd) => (error === null ? resolve(fd) : reject(error)));
  });
}

function emptyFile(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    ftruncate(fd, 0, (error) => (error === null ? resolve() : reject(error)));
  });
}

function dataSync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(fd, (error) => (error === null ? resolve() : reject(error)));
  });
}

function closeFile(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    close(fd, (error) => (error === null ? resolve() : reject(error)));
  });
}

function removeFile(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    unlink(path, (error) => (error === null ? resolve() : reject(error)));
  });
}
