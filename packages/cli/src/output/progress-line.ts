const frames = ['|', '/', '-', '\\'];

/** Progress on standard error: one line that changes on a terminal, else a line for every change. */
export class ProgressLine {
  readonly #shown: boolean;
  #turn = 0;
  #last = '';

  constructor(shown = true) {
    this.#shown = shown;
  }

  show(text: string): void {
    if (!this.#shown) return;
    if (process.stderr.isTTY) {
      // What is left of a longer text is overwritten.
      const line = text.padEnd(this.#last.length);
      process.stderr.write(`\r${frames[this.#turn++ % frames.length] ?? ''} ${line} `);
    } else if (text !== this.#last) process.stderr.write(`${text}\n`);
    this.#last = text;
  }

  stop(): void {
    if (this.#last !== '' && process.stderr.isTTY) process.stderr.write('\n');
  }
}
