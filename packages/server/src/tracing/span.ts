import { randomBytes } from 'node:crypto';

export type AttributeValue = string | number | boolean;

/** What kind of work a span is, as OTLP numbers it. */
export const spanKinds = { internal: 1, server: 2, client: 3 } as const;
export type SpanKind = keyof typeof spanKinds;

/** Who asked, as the header `traceparent` tells it. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** One piece of work that is being done. */
export class Span {
  readonly traceId: string;
  readonly spanId: string = randomBytes(8).toString('hex');
  readonly parentId: string | undefined;
  readonly kind: SpanKind;
  readonly startedMs: number = performance.timeOrigin + performance.now();
  readonly attributes = new Map<string, AttributeValue>();
  name: string;
  endedMs: number | undefined;
  error: string | undefined;

  constructor(name: string, kind: SpanKind, parent?: { readonly traceId: string; readonly spanId: string }) {
    this.name = name;
    this.kind = kind;
    this.traceId = parent?.traceId ?? randomBytes(16).toString('hex');
    this.parentId = parent?.spanId;
  }

  /** What whoever is called from here is told. */
  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-01`;
  }
}

const pattern = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Undefined for a header that is missing or is none: a new trace begins then. */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = pattern.exec(header ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
