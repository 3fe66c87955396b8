import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, write } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';

interface RotatingFileOptions {
  readonly maxBytes: number;
  /** Rotated files kept; 0 keeps all. */
  readonly keep: number;
  /** Told once when lines start to be lost (a full disk), and again after it has recovered. */
  readonly onError: (error: Error) => void;
}

/** Appends to a file and moves it aside as `name-<time>.ext` when the next line would pass the limit. */
export class RotatingFile {
  readonly #path: string;
  readonly #options: RotatingFileOptions;
  #fd: number;
  #size: number;
  readonly #pending: string[] = [];
  #writing: Promise<void> | undefined;
  #failing = false;

  /** Throws when the file cannot be opened for appending. */
  constructor(path: string, options: RotatingFileOptions) {
    this.#path = path;
    this.#options = options;
    mkdirSync(dirname(path), { recursive: true });
    this.#fd = openSync(path, 'a', 0o640);
    this.#size = fstatSync(this.#fd).size;
  }

  write(lines: string): void {
    this.#pending.push(lines);
    this.#writing ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // Lines of one turn of the event loop become one write.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const bytes = Buffer.from(this.#takeFitting());
      try {
        if (this.#size > 0 && this.#size + bytes.length > this.#options.maxBytes) this.#rotate();
        await this.#append(bytes);
        this.#failing = false;
      } catch (error) {
        if (!this.#failing) this.#options.onError(error as Error);
        this.#failing = true;
      }
    }
    this.#writing = undefined;
  }

  /** As many waiting lines as fit into the current file, at least one. */
  #takeFitting(): string {
    let room = this.#options.maxBytes - this.#size;
    let count = 0;
    for (const lines of this.#pending) {
      room -= Buffer.byteLength(lines);
      if (room < 0 && count > 0) break;
      count++;
    }
    return this.#pending.splice(0, count).join('');
  }

  async #append(bytes: Buffer): Promise<void> {
    let offset = 0;
    while (offset < bytes.length) {
      const from = offset;
      const written = await new Promise<number>((resolve, reject) => {
        write(this.#fd, bytes, from, bytes.length - from, null, (error, count) => {
          if (error === null) resolve(count);
          else reject(error);
        });
      });
      offset += written;
      this.#size += written;
    }
  }

  #rotate(): void {
    const extension = extname(this.#path);
    const stem = basename(this.#path, extension);
    const folder = dirname(this.#path);
    const time = new Date().toISOString().replaceAll(':', '-').replace('Z', '');
    let target = join(folder, `${stem}-${time}${extension}`);
    const taken = new Set(readdirSync(folder));
    for (let n = 1; taken.has(basename(target)); n++)
      target = join(folder, `${stem}-${time}-${n}${extension}`);
    renameSync(this.#path, target);
    closeSync(this.#fd);
    this.#fd = openSync(this.#path, 'a', 0o640);
    this.#size = 0;
    if (this.#options.keep > 0) this.#removeOld(folder, stem, extension);
  }

  #removeOld(folder: string, stem: string, extension: string): void {
    const rotated = readdirSync(folder)
      .filter((name) => name.startsWith(`${stem}-2`) && name.endsWith(extension))
      .toSorted();
    for (const name of rotated.slice(0, -this.#options.keep)) rmSync(join(folder, name), { force: true });
  }

  async close(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    closeSync(this.#fd);
  }
}
