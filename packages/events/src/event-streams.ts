import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { EventsError } from './errors.ts';
import { cloudEvent } from './event.ts';
import type { EventFilter } from './event-filter.ts';
import type { EventLog } from './event-log.ts';
import type { MayRead } from './read-events.ts';
import type { Segment } from './segment.ts';

/** Keeps proxies from closing a quiet stream, and moves the cursor of one that has nothing to show. */
const beatMs = 15_000;
/** How often the end of the log is looked at, should nobody tell of it. */
const lookMs = 1000;
const sharedLookMs = 50;
const quietMs = 60_000;
/** A reader that takes nothing for so long is let go; it comes back where it was. */
const patienceMs = 30_000;
/** Each stream that is open lets all of them wait so long for company: sending costs more than what is sent. */
const restPerStreamMs = 0.2;
/** Written at once. */
const pieceBytes = 64 * 1024;

export interface EventStreamsOptions {
  readonly log: EventLog;
  readonly installationId: string;
  /** Streams of this process at once. */
  readonly maxStreams: number;
  /** Other servers may keep the log: nobody here is told what they append. */
  readonly isShared: boolean;
  /** Told now and then while streams are open. */
  readonly onFollowed?: (() => void) | undefined;
}

export interface StreamRequest {
  /** The number of the last event the reader has; undefined: only what comes from now on. */
  readonly after: number | undefined;
  readonly filter: EventFilter;
  /** Asked anew for every piece and at least with every beat. Undefined: the caller is not known any more. */
  readonly permission: () => Promise<MayRead | undefined>;
}

/** What one reader is sent. */
export interface EventStream {
  sendTo(sink: Writable): Promise<void>;
}

/** The streams of one process: each event is read and encoded once for all of them. */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #lines = new WeakMap<Segment, (string | undefined)[]>();
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();
  #lastPiece: { readonly lines: readonly string[]; readonly bytes: Buffer } = {
    lines: [],
    bytes: Buffer.alloc(0),
  };
  #open = 0;
  /** The number of the event that comes next, as far as streams look. */
  #next = 0;
  /** And as far as is known. */
  #known = 0;
  #shownAt = Number.NEGATIVE_INFINITY;
  #showing: NodeJS.Timeout | undefined;
  #changedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
  }

  get open(): number {
    return this.#open;
  }

  /** Events up to this number (exclusive) are in the log. */
  told(next: number): void {
    if (next <= this.#known) return;
    this.#known = next;
    this.#changedAt = Date.now();
    const rest = this.#shownAt + this.#open * restPerStreamMs - performance.now();
    if (rest <= 1) this.#show();
    else this.#showing ??= setTimeout(() => this.#show(), rest).unref();
  }

  #show(): void {
    clearTimeout(this.#showing);
    this.#showing = undefined;
    this.#shownAt = performance.now();
    this.#next = this.#known;
    for (const wake of this.#waiting) wake();
  }

  /** Refuses a cursor that cannot be read from before anything is sent. */
  async start(request: StreamRequest): Promise<EventStream> {
    const { log, maxStreams } = this.#options;
    if (this.#stop.signal.aborted) throw new EventsError('busy', 'the server is about to stop: try again');
    if (this.#open >= maxStreams) {
      throw new EventsError('busy', 'too many event streams are open (events.max_streams): try again later');
    }
    // Counted before anything is waited for.
    this.#open += 1;
    try {
      const next =
        request.after === undefined ? (await log.tail()).next : await log.checkCursor(request.after);
      this.told(next);
      this.#options.onFollowed?.();
      this.#look();
      return { sendTo: (sink) => this.#send(sink, request, request.after ?? next - 1) };
    } catch (error) {
      this.#closed();
      throw error;
    }
  }

  #closed(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #send(sink: Writable, request: StreamRequest, after: number): Promise<void> {
    const gone = new AbortController();
    const end = (): void => gone.abort();
    sink.once('close', end);
    const signal = AbortSignal.any([gone.signal, this.#stop.signal]);
    try {
      // The id says where the stream begins, so that a reader cut off before the first event can come back.
      await this.#write(sink, `id: ${after}\nretry: 2000\n\n`, signal);
      let position = after;
      while (!signal.aborted) {
        const mayRead = await request.permission();
        if (mayRead === undefined) break;
        const sent = await this.#sendNew(sink, request.filter, mayRead, position, signal);
        if (sent === undefined) break;
        position = sent;
        if (position < this.#next - 1) continue;
        const isNew = await this.#wait(position, signal);
        if (!isNew && !signal.aborted) await this.#write(sink, `id: ${position}\n\n`, signal);
      }
      if (!sink.destroyed) sink.end();
    } catch (error) {
      // Whoever is too slow or gone is not worth a word: readers come back where they were.
      if (!(error instanceof SlowReader)) throw error;
      sink.destroy();
    } finally {
      sink.off('close', end);
      this.#closed();
    }
  }

  /** One piece at most. Answers how far it came; undefined when the log has lost what comes next. */
  async #sendNew(
    sink: Writable,
    filter: EventFilter,
    mayRead: MayRead,
    position: number,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const lines: string[] = [];
    let length = 0;
    let at = position;
    let isLost = false;
    while (at < this.#next - 1 && length < pieceBytes) {
      const segment = await this.#options.log.segmentWith(at + 1);
      if (segment === undefined) {
        isLost = true;
        break;
      }
      if (!filter.mayMatch(segment)) {
        at = segment.next - 1;
        continue;
      }
      for (; at < segment.next - 1 && length < pieceBytes; at += 1) {
        const event = segment.events[at + 1 - segment.first];
        if (event === undefined || !filter.matches(event) || !mayRead(event)) continue;
        const line = this.#line(segment, at + 1);
        lines.push(line);
        length += line.length;
      }
    }
    if (length > 0) await this.#write(sink, this.#pieceOf(lines), signal);
    return isLost ? undefined : at;
  }

  #line(segment: Segment, sequence: number): string {
    const lines = this.#lines.get(segment) ?? [];
    this.#lines.set(segment, lines);
    const index = sequence - segment.first;
    const event = segment.events[index];
    if (event === undefined) return '';
    lines[index] ??=
      `id: ${sequence}\ndata: ${JSON.stringify(cloudEvent(event, sequence, this.#options.installationId))}\n\n`;
    return lines[index];
  }

  /** Most streams are sent the same: its bytes are made once. */
  #pieceOf(lines: readonly string[]): Buffer {
    const last = this.#lastPiece;
    const isSame = last.lines.length === lines.length && last.lines.every((line, at) => line === lines[at]);
    if (!isSame) this.#lastPiece = { lines, bytes: Buffer.from(lines.join('')) };
    return this.#lastPiece.bytes;
  }

  /** Never holds more than one piece for a reader that does not take it. */
  async #write(sink: Writable, text: string | Buffer, signal: AbortSignal): Promise<void> {
    if (signal.aborted || sink.destroyed || sink.write(text)) return;
    const patience = AbortSignal.timeout(patienceMs);
    try {
      await once(sink, 'drain', { signal: AbortSignal.any([signal, patience]) });
    } catch {
      if (!signal.aborted) throw new SlowReader();
    }
  }

  /** False when a beat is due before anything is new. */
  #wait(position: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || position < this.#next - 1) return Promise.resolve(true);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const wake = (): void => resolve(true);
    const timer = setTimeout(() => resolve(false), beatMs).unref();
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(wake);
      signal.removeEventListener('abort', wake);
    });
  }

  #look(): void {
    if (this.#timer !== undefined || this.#open === 0 || this.#stop.signal.aborted) return;
    const isBusy = this.#options.isShared && Date.now() - this.#changedAt < quietMs;
    this.#timer = setTimeout(
      () => {
        void this.#lookOnce();
      },
      isBusy ? sharedLookMs : lookMs,
    ).unref();
  }

  async #lookOnce(): Promise<void> {
    this.#options.onFollowed?.();
    try {
      const { next } = await this.#options.log.tail();
      this.told(next);
    } catch {
      // The store does not answer: the next look may.
    }
    this.#timer = undefined;
    this.#look();
  }

  /** Ends every stream. */
  close(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#showing);
  }
}

class SlowReader extends Error {
  override readonly name = 'SlowReader';
}
