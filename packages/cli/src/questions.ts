import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError } from './errors.ts';

export interface Question {
  /** Taken when the answer is empty. */
  readonly current: string;
  /** Echoed as `*`. */
  readonly secret?: boolean;
  /** What is wrong with an answer; it is asked again. */
  readonly check?: (answer: string) => string | undefined;
}

/** Asks several questions over one input. Its end is a refusal. */
export class Questions {
  readonly #lines: Interface;
  readonly #waiting: ((line: string | undefined) => void)[] = [];
  readonly #unread: string[] = [];
  #ended = false;
  #hide = false;

  constructor() {
    const output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        const text = chunk.toString('utf8');
        // The terminal echoes each typed character as it comes; line ends and prompts pass.
        process.stderr.write(
          this.#hide && !/[\r\n]/.test(text) && !text.includes('\u001B') ? '*'.repeat(text.length) : text,
        );
        done();
      },
    });
    this.#lines = createInterface({ input: process.stdin, output, terminal: process.stdin.isTTY });
    this.#lines.on('line', (line) => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#unread.push(line);
      else next(line);
    });
    this.#lines.on('close', () => {
      this.#ended = true;
      for (const next of this.#waiting.splice(0)) next(undefined);
    });
    this.#lines.on('SIGINT', () => {
      this.#lines.close();
    });
  }

  async ask(text: string, question: Question): Promise<string> {
    const shown = question.secret === true ? '*'.repeat(question.current.length) : question.current;
    for (;;) {
      process.stderr.write(`${text}${shown === '' ? '' : ` [${shown}]`}: `);
      this.#hide = question.secret === true;
      const line = await this.#next();
      this.#hide = false;
      if (line === undefined) throw new CliError('no answer: the configuration file was not changed');
      const answer = line.trim() === '' ? question.current : line.trim();
      const problem = question.check?.(answer);
      if (problem === undefined) return answer;
      process.stderr.write(`${problem}\n`);
    }
  }

  close(): void {
    this.#lines.close();
  }

  #next(): Promise<string | undefined> {
    const line = this.#unread.shift();
    if (line !== undefined || this.#ended) return Promise.resolve(line);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
