import { colourLines, wantsColour } from './text-line.ts';
import type { LogSink } from './logger.ts';
import { errorText } from './logger.ts';
import { RotatingFile } from './rotating-file.ts';

interface OutputOptions {
  /** `-` standard output, `=` standard error, else a file. */
  readonly outputs: readonly string[];
  readonly format: 'json' | 'text';
  readonly maxBytes: number;
  readonly keep: number;
}

export class LogOutputError extends Error {
  override readonly name = 'LogOutputError';
}

/** All places logs go to. The one process that opens this owns the files and rotates them. */
export class LogOutputs implements LogSink {
  readonly #writers: ((lines: string) => void)[] = [];
  readonly #files: RotatingFile[] = [];

  constructor(options: OutputOptions) {
    for (const output of options.outputs) {
      if (output === '') continue;
      if (output === '-') this.#writers.push(streamWriter(process.stdout, options.format));
      else if (output === '=') this.#writers.push(streamWriter(process.stderr, options.format));
      else this.#addFile(output, options);
    }
  }

  #addFile(path: string, options: OutputOptions): void {
    let file: RotatingFile;
    try {
      file = new RotatingFile(path, {
        maxBytes: options.maxBytes,
        keep: options.keep,
        onError: (error) =>
          process.stderr.write(`svc: cannot write the log file ${path}: ${error.message}\n`),
      });
    } catch (error) {
      throw new LogOutputError(
        `logging.output: cannot open the log file ${path}: ${errorText(error)}; choose a writable place, or "-" for standard output`,
      );
    }
    this.#files.push(file);
    this.#writers.push((lines) => file.write(lines));
  }

  write(lines: string): void {
    for (const writer of this.#writers) writer(lines);
  }

  async close(): Promise<void> {
    await Promise.all(this.#files.map((file) => file.close()));
  }
}

function streamWriter(stream: NodeJS.WriteStream, format: 'json' | 'text'): (lines: string) => void {
  const colour = format === 'text' && wantsColour(stream.isTTY, process.env['NO_COLOR']);
  // Whoever read our output may be gone; the server goes on without it.
  stream.on('error', () => {});
  return (lines) => stream.write(colour ? colourLines(lines) : lines);
}
