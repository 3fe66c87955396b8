import { close, closeSync, open, openSync, rename, renameSync } from 'node:fs';
import { promisify } from 'node:util';
import { WhileQuick } from './while-quick.ts';

const inThread = { open: promisify(open), close: promisify(close), rename: promisify(rename) };

/** Files that have another name until they are complete. */
export class PartFiles {
  readonly #opening: WhileQuick;
  readonly #closing: WhileQuick;
  readonly #renaming: WhileQuick;

  constructor(now?: () => number) {
    this.#opening = new WhileQuick(now);
    this.#closing = new WhileQuick(now);
    this.#renaming = new WhileQuick(now);
  }

  /** Makes a file that is not there yet. */
  open(part: string): number | Promise<number> {
    return this.#opening.do(
      () => openSync(part, 'wx', 0o666),
      () => inThread.open(part, 'wx', 0o666),
    );
  }

  close(file: number): void | Promise<void> {
    return this.#closing.do(
      () => closeSync(file),
      () => inThread.close(file),
    );
  }

  complete(part: string, target: string): void | Promise<void> {
    return this.#renaming.do(
      () => renameSync(part, target),
      () => inThread.rename(part, target),
    );
  }
}
