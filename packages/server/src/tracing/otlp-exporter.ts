import type { AttributeValue, Span } from './span.ts';
import { spanKinds } from './span.ts';

export interface ExporterOptions {
  /** Of the collector; spans are posted to `/v1/traces` below it. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, AttributeValue>>;
  /** Told how many spans arrived or were given up. */
  readonly onSpans: (outcome: 'exported' | 'dropped', count: number) => void;
  /** Told once when the collector cannot be reached, and once when it can again. */
  readonly onState: (error: string | undefined) => void;
}

/** Spans that wait at most; further ones are dropped, so that a collector that is away costs no memory. */
const mostWaiting = 4096;
const mostInBatch = 512;
const delayMs = 1000;
const timeoutMs = 10_000;

/** Sends spans to a collector as OTLP over HTTP in JSON, in batches, one at a time. Nothing ever waits for it. */
export class OtlpExporter {
  readonly #options: ExporterOptions;
  readonly #url: string;
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#url = `${options.endpoint.replace(/\/$/, '')}/v1/traces`;
  }

  add(span: Span): void {
    if (this.#waiting.length >= mostWaiting) {
      this.#options.onSpans('dropped', 1);
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length === mostInBatch) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), delayMs).unref();
  }

  /** Sends what waits, as far as the collector takes it. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#sending;
    while (this.#waiting.length > 0 && !this.#isFailing) {
      this.#send();
      await this.#sending;
    }
    if (this.#waiting.length > 0) this.#options.onSpans('dropped', this.#waiting.length);
    this.#waiting = [];
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#sending !== undefined || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, mostInBatch);
    this.#sending = this.#post(batch).finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length > 0)
        this.#timer ??= setTimeout(() => this.#send(), this.#isFailing ? delayMs : 0).unref();
    });
  }

  async #post(batch: readonly Span[]): Promise<void> {
    const { headers, onSpans } = this.#options;
    try {
      const answer = await fetch(this.#url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(this.#document(batch)),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`the collector answered ${answer.status}`);
      onSpans('exported', batch.length);
      this.#became(undefined);
    } catch (error) {
      onSpans('dropped', batch.length);
      const { message, cause } = error as Error;
      this.#became(cause instanceof Error ? `${message}: ${cause.message}` : message);
    }
  }

  #became(error: string | undefined): void {
    const isFailing = error !== undefined;
    if (isFailing !== this.#isFailing) this.#options.onState(error);
    this.#isFailing = isFailing;
  }

  #document(batch: readonly Span[]): object {
    return {
      resourceSpans: [
        {
          resource: { attributes: attributes(Object.entries(this.#options.resource)) },
          scopeSpans: [{ scope: { name: 'svc' }, spans: batch.map(spanDocument) }],
        },
      ],
    };
  }
}

function spanDocument(span: Span): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId !== undefined && { parentSpanId: span.parentId }),
    name: span.name,
    kind: spanKinds[span.kind],
    startTimeUnixNano: nanos(span.startedMs),
    endTimeUnixNano: nanos(span.endedMs ?? span.startedMs),
    attributes: attributes(span.attributes),
    status: span.error === undefined ? {} : { code: 2, message: span.error },
  };
}

/** A number cannot hold the nanoseconds of today. */
function nanos(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, '0')}`;
}

function attributes(entries: Iterable<readonly [string, AttributeValue]>): object[] {
  return Array.from(entries, ([key, value]) => ({ key, value: valueDocument(value) }));
}

function valueDocument(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
