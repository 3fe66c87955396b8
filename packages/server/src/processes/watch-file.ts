import { stat, statSync, type Stats } from 'node:fs';

const lookMs = 1000;

/**
 * Tells when a file may have changed since this was made, also when that was before `start`; follows links, so mounted
 * secrets work. A file that is gone for a while has not changed yet.
 */
export class FileWatch {
  readonly #path: string;
  #seen: string | undefined;
  #looks: NodeJS.Timeout | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#seen = versionOf(statsOf(path));
  }

  start(changed: () => void): void {
    this.#looks = setInterval(() => {
      stat(this.#path, (error, stats) => {
        const now = versionOf(error === null ? stats : undefined);
        if (now === undefined || now === this.#seen || this.#looks === undefined) return;
        this.#seen = now;
        changed();
      });
    }, lookMs).unref();
  }

  stop(): void {
    clearInterval(this.#looks);
    this.#looks = undefined;
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    // Whoever reads the file says what is wrong with it.
    return undefined;
  }
}

function versionOf(stats: Stats | undefined): string | undefined {
  return stats === undefined ? undefined : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}
