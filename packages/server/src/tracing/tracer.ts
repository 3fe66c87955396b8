import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ApiObserver } from '@svc/api';
import type { GatewayObserver } from '@svc/gateway';
import type { OutgoingAnswer, OutgoingRequest } from '@svc/outgoing';
import { parseTraceparent, Span, type AttributeValue, type SpanKind } from './span.ts';

export interface TracerOptions {
  /** The part of the requests without a trace of their own that are traced, 0 to 1. */
  readonly sampleRatio: number;
  readonly ended: (span: Span) => void;
}

type Method = (...args: unknown[]) => unknown;

/** Follows sampled requests through this process. What belongs to no such request is not recorded. */
export class Tracer {
  readonly #options: TracerOptions;
  readonly #current = new AsyncLocalStorage<Span>();

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  /** Serves a request within a span of its own, if it is to be traced. */
  readonly serve = (request: IncomingMessage, response: ServerResponse, serve: RequestListener): void => {
    const parent = parseTraceparent(request.headers.traceparent as string | undefined);
    const isSampled = parent?.isSampled ?? Math.random() < this.#options.sampleRatio;
    if (!isSampled) {
      serve(request, response);
      return;
    }
    const span = new Span(request.method ?? 'GET', 'server', parent);
    span.attributes.set('http.request.method', request.method ?? '');
    response.once('close', () => {
      span.attributes.set('http.response.status_code', response.statusCode);
      if (!response.writableFinished) span.error = 'the client went away';
      else if (response.statusCode >= 500) span.error = `status ${response.statusCode}`;
      this.#end(span);
    });
    this.#current.run(span, () => serve(request, response));
  };

  /** The same observer, which also names the span of each request by its operation. */
  nameApi(observer: ApiObserver): ApiObserver {
    return {
      ...observer,
      started: (operation) => {
        this.#name(`API ${operation}`);
        observer.started?.(operation);
      },
    };
  }

  nameGateway(observer: GatewayObserver): GatewayObserver {
    return {
      ...observer,
      started: (operation) => {
        this.#name(`S3 ${operation}`);
        observer.started?.(operation);
      },
    };
  }

  #name(name: string): void {
    const span = this.#current.getStore();
    if (span !== undefined) span.name = name;
  }

  /** The same object, whose calls within a traced request are spans. An answer at once is none: nothing was waited for. */
  calls<T extends object>(
    target: T,
    prefix: string,
    kind: SpanKind,
    attributes: Readonly<Record<string, AttributeValue>> = {},
  ): T {
    const wrapped = new Map<PropertyKey, unknown>();
    return new Proxy(target, {
      get: (_, name) => {
        if (wrapped.has(name)) return wrapped.get(name);
        const value: unknown = Reflect.get(target, name, target);
        const kept =
          typeof value === 'function' && typeof name === 'string'
            ? this.#call(value.bind(target) as Method, `${prefix}${name}`, kind, attributes)
            : value;
        // Whatever is no method may change.
        if (typeof value === 'function') wrapped.set(name, kept);
        return kept;
      },
    });
  }

  #call(
    method: Method,
    name: string,
    kind: SpanKind,
    attributes: Readonly<Record<string, AttributeValue>>,
  ): Method {
    const begin = (parent: Span): Span => {
      const span = new Span(name, kind, parent);
      for (const [key, value] of Object.entries(attributes)) span.attributes.set(key, value);
      return span;
    };
    return (...args) => {
      const parent = this.#current.getStore();
      if (parent === undefined) return method(...args);
      const span = begin(parent);
      const result = this.#current.run(span, () => method(...args));
      if (result instanceof Promise) return this.#settled(span, result);
      return isPages(result) ? this.#pages(result, () => begin(parent)) : result;
    };
  }

  #settled<T>(span: Span, promise: Promise<T>): Promise<T> {
    return promise.then(
      (result) => {
        this.#end(span);
        return result;
      },
      (error: unknown) => {
        span.error = error instanceof Error ? error.name : 'failed';
        this.#end(span);
        throw error;
      },
    );
  }

  /** Each page is a span: the time between pages is the caller's. */
  #pages(pages: AsyncIterator<unknown>, begin: () => Span): AsyncIterableIterator<unknown> {
    const iterator: AsyncIterableIterator<unknown> = {
      next: () => this.#settled(begin(), pages.next()),
      return: async (value) => (await pages.return?.(value)) ?? { done: true, value },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  /** Tells whoever is called which trace the call belongs to, unless the request does so itself. */
  readonly outgoing = async (
    request: OutgoingRequest,
    send: (request: OutgoingRequest) => Promise<OutgoingAnswer>,
  ): Promise<OutgoingAnswer> => {
    const parent = this.#current.getStore();
    if (parent === undefined) return send(request);
    const span = new Span(`HTTP ${request.method}`, 'client', parent);
    const names = Object.keys(request.headers ?? {}).map((name) => name.toLowerCase());
    const answering = send(
      names.includes('traceparent')
        ? request
        : { ...request, headers: { ...request.headers, traceparent: span.traceparent } },
    );
    const answer = await this.#settled(
      span,
      answering.then((given) => {
        span.attributes.set('http.response.status_code', given.status);
        return given;
      }),
    );
    return answer;
  };

  #end(span: Span): void {
    span.endedMs = performance.timeOrigin + performance.now();
    this.#options.ended(span);
  }
}

function isPages(value: unknown): value is AsyncIterator<unknown> {
  return typeof value === 'object' && value !== null && 'next' in value && Symbol.asyncIterator in value;
}
