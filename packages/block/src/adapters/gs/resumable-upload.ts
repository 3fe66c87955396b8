import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { BucketObject } from '../../address.ts';
import { BlockError } from '../../errors.ts';
import { backOffMs, type StoreResponse } from '../../remote/connection.ts';
import { ReplayedStream } from '../../remote/replayed-stream.ts';
import { piecesOf, streamRequest, type RequestBody } from '../../remote/request-body.ts';
import type { GsClient } from './client.ts';
import type { GsObject } from './object-calls.ts';

/** All chunks but the last are multiples of this. */
const chunkUnit = 256 * 1024;

/**
 * What of a stream can be sent again. The service keeps what it received but for the last units, and the network holds
 * some of it.
 */
const windowBytes = 16 * 1024 * 1024;

type Bytes = Extract<RequestBody, { kind: 'bytes' }>;

/** What is sent, from any byte on that is still to be had. */
interface Content {
  readonly start: number;
  readonly end: number;
  /** Nothing more can come. */
  readonly failure?: { readonly error: unknown } | undefined;
  from(offset: number): RequestBody;
}

/** One upload that the service keeps the state of: after a failure it is asked how much it has. */
export class ResumableUpload {
  readonly #client: GsClient;
  readonly #target: BucketObject;
  readonly #location: string;
  readonly #signal: AbortSignal | undefined;
  #offset = 0;
  #object: GsObject | undefined;

  constructor(client: GsClient, target: BucketObject, location: string, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#target = target;
    this.#location = location;
    this.#signal = signal;
  }

  /** The next piece. One that is no whole number of units is the last. */
  async send(body: RequestBody): Promise<void> {
    if (body.kind !== 'bytes') throw new TypeError('an upload is resumed from memory');
    const end = this.#offset + body.size;
    const total = body.size % chunkUnit === 0 ? undefined : end;
    const start = this.#offset;
    await this.#sendUntil({ start, end, from: (offset) => skip(body, offset - start) }, total);
  }

  /** A whole body in one request; after a failure the rest in another. */
  async sendAll(stream: Readable, size: number): Promise<void> {
    // A client may send single bytes; together they are fewer to keep.
    const replayed = new ReplayedStream(piecesOf(stream, size), windowBytes);
    const content = {
      get start() {
        return replayed.start;
      },
      get failure() {
        return replayed.failure;
      },
      end: size,
      from: (offset: number): RequestBody =>
        offset === size ? emptyBody : streamRequest(Readable.from(replayed.from(offset)), size - offset),
    };
    await this.#sendUntil(content, size);
  }

  /** The object, once all pieces were sent. */
  async finish(): Promise<GsObject> {
    if (this.#object === undefined)
      await this.#sendUntil({ start: this.#offset, end: this.#offset, from: () => emptyBody }, this.#offset);
    if (this.#object === undefined) throw new BlockError('unavailable', 'the store did not end the upload');
    return this.#object;
  }

  /** Ends the upload without an object. */
  async cancel(): Promise<void> {
    const response = await this.#put({
      method: 'DELETE',
      accepts: (status) => status < 300 || status === 499,
    });
    await response.body.dump();
  }

  async #sendUntil(content: Content, total: number | undefined): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const before = this.#offset;
      try {
        await this.#sendRange(content.from(this.#offset), total);
        if (this.#object === undefined && this.#offset <= before)
          throw new BlockError('unavailable', 'the store took nothing of what it was sent');
      } catch (error) {
        if (content.failure !== undefined) throw content.failure.error;
        const mayRetry = error instanceof BlockError && error.retryable && attempt <= this.#client.maxRetries;
        if (!mayRetry) throw error;
        await delay(
          backOffMs(attempt),
          undefined,
          this.#signal === undefined ? {} : { signal: this.#signal },
        );
        await this.#ask();
        if (this.#offset < content.start && this.#object === undefined)
          throw new BlockError('unavailable', 'the store has lost a part of the upload', { cause: error });
      }
      if (this.#object !== undefined || (total === undefined && this.#offset >= content.end)) return;
      if (this.#offset > before) attempt = 0;
    }
  }

  async #sendRange(body: RequestBody, total: number | undefined): Promise<void> {
    const range = body.size === 0 ? '*' : `${this.#offset}-${this.#offset + body.size - 1}`;
    const response = await this.#put({
      method: 'PUT',
      headers: { 'content-range': `bytes ${range}/${total ?? '*'}` },
      body,
    });
    await this.#learn(response);
  }

  /** Asks how much the service has. */
  async #ask(): Promise<void> {
    const response = await this.#put({
      method: 'PUT',
      headers: { 'content-range': 'bytes */*' },
      body: emptyBody,
      once: false,
    });
    await this.#learn(response);
  }

  async #learn(response: StoreResponse): Promise<void> {
    if (response.status !== 308) {
      this.#object = (await response.body.json()) as GsObject;
      return;
    }
    await response.body.dump();
    const last = /^bytes=0-(\d+)$/.exec(response.header('range') ?? '')?.[1];
    this.#offset = last === undefined ? 0 : Number(last) + 1;
  }

  #put(request: {
    readonly method: 'PUT' | 'DELETE';
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: RequestBody;
    readonly once?: boolean;
    readonly accepts?: (status: number) => boolean;
  }): Promise<StoreResponse> {
    return this.#client.send({
      target: this.#target,
      path: this.#location,
      access: 'write',
      once: true,
      accepts: (status) => status < 300 || status === 308,
      signal: this.#signal,
      ...request,
      headers: { ...this.#client.encryption, ...request.headers },
    });
  }
}

const emptyBody: Bytes = { kind: 'bytes', chunks: [], size: 0 };

/** What is left of a body after its first bytes. */
function skip(body: Bytes, count: number): Bytes {
  if (count === 0) return body;
  const chunks: Uint8Array[] = [];
  let left = count;
  for (const chunk of body.chunks) {
    if (left >= chunk.length) left -= chunk.length;
    else {
      chunks.push(left === 0 ? chunk : chunk.subarray(left));
      left = 0;
    }
  }
  return { kind: 'bytes', chunks, size: body.size - count };
}
