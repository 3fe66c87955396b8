import { appendFileSync } from 'node:fs';

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'panic', 'none'] as const;
type Level = (typeof levels)[number];
type Fields = Readonly<Record<string, string | number>>;

export interface LogOptions {
  readonly logLevel?: string | undefined;
  readonly logFormat?: string | undefined;
  readonly logOutput?: readonly string[] | undefined;
}

/** A log of what the commands do; silent unless `--log-level` asks for it. */
export class Log {
  readonly #least: number;
  readonly #json: boolean;
  readonly #outputs: readonly string[];

  constructor(options: LogOptions) {
    this.#least = levels.indexOf(levelOf(options.logLevel ?? 'none'));
    this.#json = options.logFormat === 'json';
    this.#outputs =
      options.logOutput === undefined || options.logOutput.length === 0 ? ['='] : options.logOutput;
  }

  debug(message: string, fields: Fields): void {
    this.#write('debug', message, fields);
  }

  info(message: string, fields: Fields): void {
    this.#write('info', message, fields);
  }

  warn(message: string, fields: Fields): void {
    this.#write('warn', message, fields);
  }

  #write(level: Level, message: string, fields: Fields): void {
    if (levels.indexOf(level) < this.#least) return;
    const time = new Date().toISOString();
    const line = this.#json
      ? JSON.stringify({ time, level, message, ...fields })
      : [`${time} ${level.toUpperCase().padEnd(5)} ${message}`]
          .concat(Object.entries(fields).map(([name, value]) => `${name}=${value}`))
          .join(' ');
    for (const output of this.#outputs) {
      if (output === '-') process.stdout.write(`${line}\n`);
      else if (output === '=') process.stderr.write(`${line}\n`);
      else appendFileSync(output, `${line}\n`);
    }
  }
}

/** An unknown level changes nothing: logging stays off. */
function levelOf(text: string): Level {
  const name = text.toLowerCase();
  if (name === 'warning') return 'warn';
  return levels.find((level) => level === name) ?? 'none';
}
