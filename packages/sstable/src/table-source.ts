import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { ClosedTableError } from './closed-table-error.ts';
import { CorruptTableError } from './corrupt-table-error.ts';

/**
 * A table's bytes. Reads are synchronous: a local file's blocks are a few KiB and nearly always in the page cache,
 * where a thread-pool hop would cost ten times the read.
 */
export interface TableSource {
  readonly size: number;
  /** Fills `target[at, at + length)` from `position`; throws when the bytes end early. */
  read(target: Buffer, at: number, length: number, position: number): void;
  close(): void;
}

export class FileSource implements TableSource {
  readonly size: number;
  #descriptor: number | undefined;

  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
    this.size = fstatSync(this.#descriptor).size;
  }

  read(target: Buffer, at: number, length: number, position: number): void {
    if (this.#descriptor === undefined) throw new ClosedTableError();
    for (let done = 0; done < length;) {
      const count = readSync(this.#descriptor, target, at + done, length - done, position + done);
      if (count === 0) throw endsEarly();
      done += count;
    }
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

export class MemorySource implements TableSource {
  readonly size: number;
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.size = bytes.length;
  }

  read(target: Buffer, at: number, length: number, position: number): void {
    if (position + length > this.size) throw endsEarly();
    this.#bytes.copy(target, at, position, position + length);
  }

  close(): void {}
}

function endsEarly(): CorruptTableError {
  return new CorruptTableError('it ends before what it names');
}
