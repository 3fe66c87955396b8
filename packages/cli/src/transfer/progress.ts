import type { MultiBar, SingleBar } from 'cli-progress';
import { humanSize } from '../output/format.ts';
import type { Output } from '../output/output.ts';

/** Files from this size get a bar of their own while they are on their way. */
const ownBarFrom = 8 * 1024 * 1024;
const redrawMs = 65;

export interface ProgressOptions {
  readonly out: Output;
  readonly title: string;
  /** `--no-progress`. */
  readonly off: boolean;
  /** Print one plain line per finished item when there is no bar. */
  readonly lines: boolean;
  /** Width of the label in plain lines. */
  readonly pad: number;
}

interface Payload {
  readonly title?: string;
  readonly count?: string;
  readonly open?: boolean;
}

/** Follows one item of a transfer. */
export interface ItemProgress {
  readonly onBytes: (count: number) => void;
  done(): void;
  fail(): void;
}

/** A bar on standard error for a terminal; elsewhere one line per finished item. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #bars: MultiBar | undefined;
  readonly #total: SingleBar | undefined;
  #bytes = 0;
  #files = 0;
  #finished = 0;
  #announced = false;
  #stopped = false;

  private constructor(options: ProgressOptions, bars: MultiBar | undefined) {
    this.#options = options;
    this.#bars = bars;
    this.#total = bars?.create(0, 0, { title: options.title });
  }

  static async start(options: ProgressOptions): Promise<Progress> {
    const shown = !options.off && options.out.terminal && process.stderr.isTTY && !options.out.json;
    if (!shown) return new Progress(options, undefined);
    const { MultiBar: Bars } = await import('cli-progress');
    return new Progress(
      options,
      new Bars({
        stream: process.stderr,
        clearOnComplete: true,
        hideCursor: true,
        barsize: 10,
        fps: 1000 / redrawMs,
        emptyOnZero: true,
        format: (settings, params, payload: Payload) => {
          const share = params.total === 0 ? 0 : Math.min(1, params.value / params.total);
          const filled = Math.round(share * (settings.barsize ?? 10));
          const bar = '#'.repeat(filled).padEnd(settings.barsize ?? 10, '.');
          const seconds = Math.max(0.001, (Date.now() - params.startTime) / 1000);
          const rate = params.value / seconds;
          const leftSeconds = rate > 0 ? Math.ceil((params.total - params.value) / rate) : 0;
          const left = payload.open === true ? '' : ` ${remaining(leftSeconds)}`;
          const count = payload.count === undefined ? '' : ` ${payload.count}`;
          return `${payload.title ?? ''} [${bar}] ${humanSize(params.value)}/${humanSize(params.total)}${count} ${humanSize(Math.round(rate))}/s${left}`;
        },
      }),
    );
  }

  /** True when a bar is drawn: only then is it worth counting ahead. */
  get shown(): boolean {
    return this.#bars !== undefined;
  }

  /** Announces the totals, so that the remaining time can be shown. */
  announce(files: number, bytes: number): void {
    this.#announced = true;
    this.#files = files;
    this.#total?.setTotal(bytes);
    this.#show();
  }

  item(label: string, size: number): ItemProgress {
    const total = this.#total;
    if (!this.#announced) {
      this.#files += 1;
      total?.setTotal(total.getTotal() + size);
    }
    this.#show();
    const own =
      this.#options.lines && size >= ownBarFrom ? this.#bars?.create(size, 0, { title: label }) : undefined;
    let moved = 0;
    const end = (word: string): void => {
      this.#finished += 1;
      // A file without bytes, or one that was shorter than announced, still counts as a whole.
      this.#bytes += word === 'done!' ? size - moved : 0;
      this.#show();
      if (own !== undefined) this.#bars?.remove(own);
      const { out, lines, pad } = this.#options;
      if (lines && this.#bars === undefined && !out.json) out.line(`${label.padEnd(pad)} ... ${word}`);
    };
    return {
      onBytes: (count) => {
        moved += count;
        this.#bytes += count;
        own?.update(Math.max(0, moved));
        this.#show();
      },
      done: () => {
        end('done!');
      },
      fail: () => {
        end('fail!');
      },
    };
  }

  stop(): void {
    if (!this.#stopped) this.#bars?.stop();
    this.#stopped = true;
  }

  #show(): void {
    // While more items may come, the remaining time is unknown.
    const open = this.#options.lines && !this.#announced;
    this.#total?.update(Math.max(0, this.#bytes), { count: `${this.#finished}/${this.#files}`, open });
  }
}

function remaining(seconds: number): string {
  if (seconds < 60) return `${seconds}s left`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${seconds % 60}s left`;
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m left`;
}
