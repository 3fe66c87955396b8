import type { KvStore } from '@svc/kv';
import { AuthError } from '../errors.ts';
import {
  compareEntries,
  resultOf,
  type AuditEntry,
  type AuditPlace,
  type AuditResult,
} from './audit-entry.ts';
import {
  auditPartition,
  decodeSegment,
  maxSpanMs,
  oldestOf,
  segmentsFrom,
  segmentsPrefix,
} from './audit-segment.ts';

export interface AuditQuery {
  readonly user?: string | undefined;
  /** An operation or a permission; `*` at the end stands for anything. */
  readonly action?: string | undefined;
  /** A resource; `*` at the end stands for anything. */
  readonly resource?: string | undefined;
  readonly result?: AuditResult | undefined;
  readonly sourceIp?: string | undefined;
  /** Milliseconds since 1970, inclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** `nextOffset` of the page before. */
  readonly after?: string | undefined;
  readonly amount: number;
}

export interface AuditPage {
  readonly results: readonly AuditEntry[];
  /** There may be more: a search that meets little ends a page early. */
  readonly hasMore: boolean;
  readonly nextOffset: string;
  /** Entries newer than this have been looked at. Milliseconds since 1970. */
  readonly searchedUntil: number | undefined;
}

/** Packed bytes that one page reads, at most. */
const maxPageBytes = 4 * 1024 * 1024;

/** What all processes of all servers saw, newest first. */
export class AuditLog {
  readonly #kv: KvStore;
  readonly #maxPageBytes: number;

  constructor(kv: KvStore, options: { readonly maxPageBytes?: number } = {}) {
    this.#kv = kv;
    this.#maxPageBytes = options.maxPageBytes ?? maxPageBytes;
  }

  async read(query: AuditQuery): Promise<AuditPage> {
    const after = query.after === undefined || query.after === '' ? undefined : placeOf(query.after);
    const bound = Math.min(query.until ?? Infinity, after?.time ?? Infinity);
    const matches = matcherOf(query, after);
    /** Met, but a segment that was not read yet may hold newer ones. */
    let waiting: AuditEntry[] = [];
    const results: AuditEntry[] = [];
    /** Takes what is newer than anything still unread. True when the page is full. */
    const take = (horizon: number): boolean => {
      waiting.sort(compareEntries);
      const known = waiting.findIndex(({ time }) => time <= horizon);
      const ready = known === -1 ? waiting.length : known;
      results.push(...waiting.slice(0, ready));
      waiting = waiting.slice(ready);
      return results.length > query.amount;
    };
    let bytes = 0;
    const scan = this.#kv.scan(auditPartition, {
      prefix: segmentsPrefix,
      start: Number.isFinite(bound) ? segmentsFrom(bound) : undefined,
      batch: 16,
    });
    for await (const page of scan) {
      for (const { key, value } of page) {
        const horizon = oldestOf(key) + maxSpanMs;
        if (take(horizon)) return fullPage(results, query.amount);
        if (query.since !== undefined && horizon < query.since) return lastPage(results);
        // Each page gets further than the one before, however much lies in one place.
        if (bytes > this.#maxPageBytes && horizon + 1 < bound) return earlyPage(results, horizon);
        bytes += value.length;
        for (const entry of await decodeSegment(value)) if (matches(entry)) waiting.push(entry);
      }
    }
    return take(-Infinity) ? fullPage(results, query.amount) : lastPage(results);
  }

  /** Removes whole segments that are too old, or more than may be kept: the oldest first. */
  async trim(options: {
    readonly now: number;
    readonly retentionMs: number;
    readonly maxBytes: number;
    readonly mayGoOn: () => Promise<boolean>;
  }): Promise<void> {
    const cutoff = options.now - options.retentionMs;
    let bytes = 0;
    for await (const page of this.#kv.scan(auditPartition, { prefix: segmentsPrefix, batch: 16 })) {
      const gone: Buffer[] = [];
      for (const { key, value } of page) {
        bytes += key.length + value.length;
        if (oldestOf(key) + maxSpanMs < cutoff || bytes > options.maxBytes) gone.push(key);
      }
      if (gone.length === 0) continue;
      if (!(await options.mayGoOn())) return;
      await this.#kv.deleteMany(auditPartition, gone);
    }
  }
}

function fullPage(results: readonly AuditEntry[], amount: number): AuditPage {
  const shown = results.slice(0, amount);
  const last = shown.at(-1);
  return {
    results: shown,
    hasMore: true,
    nextOffset: last === undefined ? '' : offsetOf(last),
    searchedUntil: last?.time,
  };
}

function lastPage(results: readonly AuditEntry[]): AuditPage {
  return { results, hasMore: false, nextOffset: '', searchedUntil: undefined };
}

/** Everything after the horizon was looked at, whether or not it was asked for. */
function earlyPage(results: readonly AuditEntry[], horizon: number): AuditPage {
  const next = { time: horizon + 1, requestId: '' };
  return { results, hasMore: true, nextOffset: offsetOf(next), searchedUntil: horizon };
}

function offsetOf({ time, requestId }: AuditPlace): string {
  return `${time}/${requestId}`;
}

function placeOf(offset: string): AuditPlace {
  const [, time, requestId = ''] = /^(\d{1,15})\/(.*)$/.exec(offset) ?? [];
  if (time === undefined) throw new AuthError('invalid', 'after must be the next_offset of the page before');
  return { time: Number(time), requestId };
}

function matcherOf(query: AuditQuery, after: AuditPlace | undefined): (entry: AuditEntry) => boolean {
  const isAction = textMatcher(query.action);
  const isResource = textMatcher(query.resource);
  return (entry) =>
    (query.since === undefined || entry.time >= query.since) &&
    (query.until === undefined || entry.time <= query.until) &&
    (after === undefined || compareEntries(after, entry) < 0) &&
    (query.user === undefined || entry.user === query.user) &&
    (query.sourceIp === undefined || entry.sourceIp === query.sourceIp) &&
    (query.result === undefined || resultOf(entry) === query.result) &&
    (isAction(entry.operation) || isAction(entry.action)) &&
    isResource(entry.resource);
}

function textMatcher(pattern: string | undefined): (text: string | undefined) => boolean {
  if (pattern === undefined || pattern === '') return () => true;
  if (!pattern.endsWith('*')) return (text) => text === pattern;
  const start = pattern.slice(0, -1);
  return (text) => text?.startsWith(start) === true;
}
