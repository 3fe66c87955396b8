import { randomBytes } from 'node:crypto';
import type { KvStore } from '@svc/kv';
import type { AuthLogger } from '../auth.ts';
import type { AuditEntry } from './audit-entry.ts';
import { auditPartition, encodeEntries, maxSegmentBytes, maxSpanMs, segmentKey } from './audit-segment.ts';

/** What a process that is killed loses, at most. */
export const flushEveryMs = 1000;
/** Entries that wait: more are kept only in number. */
const maxWaiting = 50_000;
/** Segments that could not be written and are tried again. */
const maxUnwritten = 16;

interface OpenSegment {
  readonly key: Buffer;
  readonly oldest: number;
  value: Buffer;
  isWritten: boolean;
}

interface AuditWriterOptions {
  readonly kv: Pick<KvStore, 'set'>;
  readonly logger: Pick<AuthLogger, 'error'>;
}

/**
 * Keeps what a process saw. `add` only remembers: once a second the entries are packed and written together, added to
 * the segment of this minute. Nobody waits for it.
 */
export class AuditWriter {
  readonly #kv: Pick<KvStore, 'set'>;
  readonly #logger: Pick<AuthLogger, 'error'>;
  readonly #id = randomBytes(6);
  #waiting: AuditEntry[] = [];
  #lost = 0;
  #lastTime = 0;
  #segments: OpenSegment[] = [];
  #number = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor({ kv, logger }: AuditWriterOptions) {
    this.#kv = kv;
    this.#logger = logger;
  }

  add(entry: AuditEntry): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#lost++;
      return;
    }
    // Within a process times never fall, so that a segment begins with its oldest entry.
    this.#lastTime = Math.max(this.#lastTime, entry.time);
    this.#waiting.push(entry.time === this.#lastTime ? entry : { ...entry, time: this.#lastTime });
    this.#timer ??= setTimeout(() => void this.flush(), flushEveryMs).unref();
  }

  /** Writes what waits. Never rejects: what cannot be written is tried again with the next entries. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async close(): Promise<void> {
    await this.flush();
  }

  async #write(): Promise<void> {
    const entries = this.#waiting;
    this.#waiting = [];
    try {
      for (const group of groupsOf(entries)) await this.#append(group);
      for (const segment of this.#segments) {
        if (segment.isWritten) continue;
        await this.#kv.set(auditPartition, segment.key, segment.value);
        segment.isWritten = true;
      }
      this.#segments = this.#segments.slice(-1);
    } catch (error) {
      const dropped = this.#segments.splice(0, Math.max(0, this.#segments.length - maxUnwritten));
      this.#logger.error({ error, dropped: dropped.length }, 'the audit log cannot be written');
      this.#timer ??= setTimeout(() => void this.flush(), flushEveryMs).unref();
    }
    if (this.#lost === 0) return;
    this.#logger.error({ entries: this.#lost }, 'more requests than the audit log can keep; these are lost');
    this.#lost = 0;
  }

  async #append(entries: readonly AuditEntry[]): Promise<void> {
    const [first] = entries;
    const last = entries.at(-1);
    if (first === undefined || last === undefined) return;
    const packed = await encodeEntries(entries);
    const open = this.#segments.at(-1);
    const fits =
      open !== undefined &&
      open.value.length + packed.length <= maxSegmentBytes &&
      last.time - open.oldest <= maxSpanMs;
    if (fits) {
      open.value = Buffer.concat([open.value, packed]);
      open.isWritten = false;
      return;
    }
    const key = segmentKey(first.time, this.#id, this.#number++);
    this.#segments.push({ key, oldest: first.time, value: packed, isWritten: false });
  }
}

/** Text of the entries that are packed together: every store takes a value of this size, packed or not. */
const maxGroupText = 256 * 1024;
/** About what an entry takes besides its resource. */
const entryText = 300;

/** Entries that fit into one segment, by their size and their distance in time. */
function* groupsOf(entries: readonly AuditEntry[]): Generator<readonly AuditEntry[]> {
  let from = 0;
  let text = 0;
  for (const [to, { time, resource = '' }] of entries.entries()) {
    const size = entryText + Buffer.byteLength(resource);
    const isApart = time - (entries[from]?.time ?? time) > maxSpanMs;
    if (to > from && (isApart || text + size > maxGroupText)) {
      yield entries.slice(from, to);
      from = to;
      text = 0;
    }
    text += size;
  }
  if (from < entries.length) yield entries.slice(from);
}
