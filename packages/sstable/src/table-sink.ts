import { closeSync, openSync, writeSync } from 'node:fs';

/** Where a table's bytes go, in order. `bytes` may be reused after the call. */
export interface TableSink {
  write(bytes: Buffer): void;
}

export class MemorySink implements TableSink {
  readonly #parts: Buffer[] = [];

  write(bytes: Buffer): void {
    this.#parts.push(Buffer.from(bytes));
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** Writes a new file, which must not exist. A table that comes in one piece stays in memory, without a file. */
export class FileSink implements TableSink {
  readonly path: string;
  #descriptor: number | undefined;
  #whole: Buffer | undefined;
  #closed = false;

  constructor(path: string) {
    this.path = path;
  }

  write(bytes: Buffer): void {
    if (this.#closed) throw new Error(`${this.path} was closed`);
    if (this.#descriptor === undefined && this.#whole === undefined) {
      this.#whole = Buffer.from(bytes);
      return;
    }
    this.#descriptor ??= openSync(this.path, 'wx', 0o640);
    if (this.#whole !== undefined) writeAll(this.#descriptor, this.#whole);
    this.#whole = undefined;
    writeAll(this.#descriptor, bytes);
  }

  /** All bytes, when they are few and in no file; undefined when they are in the file. */
  get whole(): Buffer | undefined {
    return this.#whole;
  }

  close(): void {
    this.#closed = true;
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
}
