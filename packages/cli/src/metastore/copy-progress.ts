import type { CopyOutcome } from '@svc/metastore';

/** How many partitions are done, on the terminal only. */
export class CopyProgress {
  readonly #stream: NodeJS.WriteStream | undefined;
  #shown = false;

  constructor(wanted: boolean) {
    this.#stream = wanted && process.stderr.isTTY ? process.stderr : undefined;
  }

  show({ partitions }: CopyOutcome): void {
    if (this.#stream === undefined) return;
    const done = partitions.added + partitions.altered + partitions.dropped + partitions.unchanged;
    this.#stream.write(`\r${done} partitions`);
    this.#shown = true;
  }

  clear(): void {
    if (this.#shown) this.#stream?.write('\r\u001b[K');
    this.#shown = false;
  }
}
