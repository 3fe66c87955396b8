import { createHash } from 'node:crypto';
import {
  close,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  open,
  openSync,
  read,
  readSync,
  type Stats,
} from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { ObjectBody } from '../../adapter.ts';
import { bytesBody, smallObjectSize } from '../../body.ts';
import { errorCode, notFound, readError } from './errors.ts';
import { InlineCalls } from './inline-calls.ts';
import type { LocalPaths } from './paths.ts';
import { sendFile } from './send-file.ts';

// Without O_NONBLOCK opening a named pipe below an external prefix would hang the process.
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const readUnit = 1024 * 1024;

export interface OpenFile {
  readonly fd: number;
  readonly stats: Stats;
}

/** Opens and reads object files. Small ones that the page cache holds are read without a thread-pool hop. */
export class FileReader {
  readonly #paths: LocalPaths;
  readonly #inline = new InlineCalls();

  constructor(paths: LocalPaths) {
    this.#paths = paths;
  }

  /** Opens a regular file; anything else is `not_found`. */
  async open(path: string): Promise<OpenFile> {
    this.#paths.verify(path, 'read');
    if (this.#inline.begin() !== undefined) return this.#openSync(path);
    let fd: number;
    try {
      fd = await openAsync(path);
    } catch (error) {
      if (errorCode(error) !== 'ELOOP') throw readError(error, path);
      return this.#openSync(path);
    }
    return regularFile(fd, path);
  }

  #openSync(path: string): OpenFile {
    let fd: number;
    try {
      try {
        fd = openSync(path, readFlags);
      } catch (error) {
        if (errorCode(error) !== 'ELOOP') throw error;
        fd = openSync(this.#paths.followLink(path), readFlags);
      }
    } catch (error) {
      throw readError(error, path);
    }
    return regularFile(fd, path);
  }

  /** A small file, read at once; undefined when it is larger, or file calls are slow just now. */
  smallAtOnce(path: string): ObjectBody | undefined {
    this.#paths.verify(path, 'read');
    const began = this.#inline.begin();
    if (began === undefined) return undefined;
    const { fd, stats } = this.#openSync(path);
    try {
      if (stats.size > smallObjectSize) return undefined;
      return bytesBody(this.#readInline(fd, 0, stats.size, began));
    } catch (error) {
      throw readError(error, path);
    } finally {
      closeSync(fd);
    }
  }

  /** The bytes start..end (inclusive) as a body; takes over the descriptor. */
  async body({ fd }: OpenFile, path: string, start: number, end: number): Promise<ObjectBody> {
    const size = end - start + 1;
    if (size > smallObjectSize) return fileBody({ fd, start, end }, this.#inline);
    try {
      return bytesBody(await this.#readSmall(fd, start, size));
    } catch (error) {
      throw readError(error, path);
    } finally {
      closeSync(fd);
    }
  }

  async #readSmall(fd: number, start: number, size: number): Promise<Buffer> {
    const began = this.#inline.begin();
    if (began !== undefined) return this.#readInline(fd, start, size, began);
    const buffer = Buffer.allocUnsafe(size);
    let length = 0;
    while (length < size) {
      const count = await readAsync(fd, buffer, length, size - length, start + length);
      if (count === 0) break;
      length += count;
    }
    return length === size ? buffer : buffer.subarray(0, length);
  }

  #readInline(fd: number, start: number, size: number, began: number): Buffer {
    const buffer = Buffer.allocUnsafe(size);
    let length = 0;
    while (length < size) {
      const count = readSync(fd, buffer, length, size - length, start + length);
      if (count === 0) break;
      length += count;
    }
    this.#inline.ended(began);
    return length === size ? buffer : buffer.subarray(0, length);
  }

  /** MD5 of the whole file, in hex; leaves the descriptor open. */
  async md5({ fd, stats }: OpenFile): Promise<string> {
    if (stats.size <= smallObjectSize) {
      return createHash('md5')
        .update(await this.#readSmall(fd, 0, stats.size))
        .digest('hex');
    }
    const hash = createHash('md5');
    const buffer = Buffer.allocUnsafeSlow(readUnit);
    let position = 0;
    for (;;) {
      const count = await readAsync(fd, buffer, 0, readUnit, position);
      if (count === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, count));
      position += count;
    }
  }
}

function fileBody(
  file: { readonly fd: number; readonly start: number; readonly end: number },
  inline: InlineCalls,
): ObjectBody {
  let reader: { destroy(): unknown } | undefined;
  let disposed = false;
  const take = (): void => {
    if (disposed || reader !== undefined) throw new Error('the body of an object can be read only once');
  };
  return {
    size: file.end - file.start + 1,
    bytes: undefined,
    stream(): Readable {
      take();
      const stream = createReadStream('', { ...file, highWaterMark: readUnit });
      reader = stream;
      return stream;
    },
    sendTo(sink: Writable): Promise<void> {
      take();
      reader = sink;
      return sendFile(file, sink, inline);
    },
    dispose(): void {
      if (reader !== undefined) reader.destroy();
      else if (!disposed) close(file.fd);
      disposed = true;
    },
  };
}

function regularFile(fd: number, path: string): OpenFile {
  const stats = fstatSync(fd);
  if (stats.isFile()) return { fd, stats };
  closeSync(fd);
  throw notFound(path);
}

function openAsync(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    open(path, readFlags, (error, fd) => (error === null ? resolve(fd) : reject(error)));
  });
}

function readAsync(
  fd: number,
  buffer: Buffer,
  offset: number,
  length: number,
  position: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, offset, length, position, (error, count) =>
      error === null ? resolve(count) : reject(error),
    );
  });
}
