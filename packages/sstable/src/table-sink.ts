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

/** Writes a new file; the file must not exist. A table that came in one piece also stays in memory. */
export class FileSink implements TableSink {
  readonly path: string;
  #descriptor: number | undefined;
  #pieces = 0;
  #whole: Buffer | undefined;

  constructor(path: string) {
    this.path = path;
    this.#descriptor = openSync(path, 'wx', 0o644);
  }

  write(bytes: Buffer): void {
    if (this.#descriptor === undefined) throw new Error(`${this.path} was closed`);
    this.#whole = this.#pieces === 0 ? Buffer.from(bytes) : undefined;
    this.#pieces++;
    for (let at = 0; at < bytes.length;) at += writeSync(this.#descriptor, bytes, at);
  }

  /** The file's bytes, when it is small; else they are in the file only. */
  get whole(): Buffer | undefined {
    return this.#whole;
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
