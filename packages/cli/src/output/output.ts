import { stripVTControlCharacters } from 'node:util';
import { paint, type Style } from './style.ts';

export interface OutputOptions {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Boxes, colours and hints; off when piped or with `--no-color`. */
  readonly terminal: boolean;
  /** Print API objects as one JSON document instead of text. */
  readonly json: boolean;
}

/** Everything the tool prints goes through here. */
export class Output {
  readonly terminal: boolean;
  readonly json: boolean;
  readonly #stdout: NodeJS.WritableStream;
  readonly #stderr: NodeJS.WritableStream;

  constructor(options: OutputOptions) {
    this.#stdout = options.stdout;
    this.#stderr = options.stderr;
    this.terminal = options.terminal;
    this.json = options.json;
  }

  paint(text: string, ...styles: Style[]): string {
    return paint(this.terminal, text, ...styles);
  }

  write(text: string): void {
    this.#stdout.write(text);
  }

  line(text = ''): void {
    this.#stdout.write(`${text}\n`);
  }

  errorLine(text = ''): void {
    this.#stderr.write(`${text}\n`);
  }

  warning(text: string): void {
    this.errorLine(`${this.paint('Warning:', 'yellow')} ${text}`);
    this.errorLine();
  }

  /** A line about what is being done; left out of JSON output. */
  info(text: string): void {
    if (!this.json) this.line(text);
  }

  document(value: unknown): void {
    this.line(JSON.stringify(value, null, 2));
  }

  /** A box with upper-case headers on a terminal, tab-separated rows without headers elsewhere. */
  table(headers: readonly string[], rows: readonly (readonly string[])[]): void {
    if (!this.terminal) {
      for (const row of rows) this.line(row.join('\t'));
      return;
    }
    const widths = headers.map((header, column) =>
      Math.max(header.length, ...rows.map((row) => visibleLength(row[column] ?? ''))),
    );
    const rule = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`;
    const format = (cells: readonly string[]): string =>
      `|${widths.map((width, column) => ` ${pad(cells[column] ?? '', width)} `).join('|')}|`;
    this.line(rule);
    this.line(format(headers.map((header) => header.toUpperCase())));
    this.line(rule);
    for (const row of rows) this.line(format(row));
    this.line(rule);
  }

  /** How to get the next page; shown only on a terminal. */
  paginationHint(amount: number, page: { readonly has_more: boolean; readonly next_offset: string }): void {
    if (!this.terminal || !page.has_more || amount <= 0) return;
    const flags = this.paint(`--amount ${amount} --after "${page.next_offset}"`, 'yellow');
    this.line(`There is more: run it again with ${flags}`);
  }
}

function visibleLength(text: string): number {
  return stripVTControlCharacters(text).length;
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - visibleLength(text)));
}
