import { ApiError } from '@svc/client';
import type { StorageConfig } from './api.ts';
import { explain } from './explain.ts';
import { refreshAll } from './queries.ts';
import { uploadFile } from './upload-file.ts';

export interface UploadRow {
  readonly file: File;
  readonly path: string;
  sent: number;
  /** `present`: there is an object already, and nobody has said that it may be replaced. */
  state: 'waiting' | 'sending' | 'done' | 'failed' | 'present';
  reason?: string | undefined;
  /** May replace what is there. */
  replaces?: boolean;
}

export interface UploadPlace {
  readonly repository: string;
  readonly branch: string;
  readonly storage: StorageConfig | undefined;
}

const parallel = 5;
let works = 0;

/** Files on their way to a branch. They go on whatever page is shown. */
export class UploadWork {
  readonly id = `upload-${++works}`;
  readonly place: UploadPlace;
  #rows: readonly UploadRow[];
  #running: AbortController | undefined;
  #sent: Promise<void> = Promise.resolve();
  #isPaused = false;
  readonly #onChange: () => void;

  constructor(
    place: UploadPlace,
    files: readonly { readonly file: File; readonly path: string }[],
    onChange: () => void,
  ) {
    this.place = place;
    this.#rows = files.map(({ file, path }) => ({ file, path, sent: 0, state: 'waiting' }));
    this.#onChange = onChange;
  }

  get rows(): readonly UploadRow[] {
    return this.#rows;
  }

  get state(): 'running' | 'paused' | 'ended' {
    if (this.#running !== undefined) return 'running';
    return this.#isPaused ? 'paused' : 'ended';
  }

  count(state: UploadRow['state']): number {
    return this.#rows.filter((row) => row.state === state).length;
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) return;
    const running = new AbortController();
    this.#running = running;
    this.#isPaused = false;
    this.#onChange();
    // What was paused just now may still be on its way back to the queue.
    await this.#sent;
    this.#sent = this.#sendAll(running.signal);
    await this.#sent;
    if (this.#running === running) this.#running = undefined;
    this.#onChange();
    await refreshAll();
  }

  async #sendAll(signal: AbortSignal): Promise<void> {
    const queue = this.#rows.filter(({ state }) => state === 'waiting').values();
    const work = async (): Promise<void> => {
      for (const row of queue) {
        if (signal.aborted) return;
        await this.#send(row, signal);
      }
    };
    await Promise.all(Array.from({ length: parallel }, work));
  }

  /** Files that are on their way begin again later. */
  pause(): void {
    this.#isPaused = true;
    this.#running?.abort();
    this.#running = undefined;
    this.#onChange();
  }

  retry(): void {
    this.#put('failed', 'waiting');
    void this.start();
  }

  replace(): void {
    for (const row of this.#rows) if (row.state === 'present') row.replaces = true;
    this.#put('present', 'waiting');
    void this.start();
  }

  leaveOut(): void {
    this.#rows = this.#rows.filter(({ state }) => state !== 'present');
    this.#onChange();
  }

  #put(from: UploadRow['state'], to: UploadRow['state']): void {
    for (const row of this.#rows) {
      if (row.state !== from) continue;
      row.state = to;
      row.reason = undefined;
    }
  }

  async #send(row: UploadRow, signal: AbortSignal): Promise<void> {
    row.state = 'sending';
    row.sent = 0;
    this.#onChange();
    try {
      await uploadFile({
        ...this.place,
        path: row.path,
        file: row.file,
        ifAbsent: row.replaces !== true,
        signal,
        onProgress: (sent) => {
          row.sent = sent;
          this.#onChange();
        },
      });
      row.state = 'done';
    } catch (error) {
      row.sent = 0;
      if (signal.aborted) row.state = 'waiting';
      else if (row.replaces !== true && error instanceof ApiError && error.status === 412) {
        row.state = 'present';
        row.reason = 'There is an object at this path already';
      } else {
        row.state = 'failed';
        row.reason = explain(error).text;
      }
    }
    this.#onChange();
  }
}
