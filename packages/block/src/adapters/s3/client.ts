import { createHash, hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  emptySha256,
  encodeQuery,
  presignQuery,
  SigningKeyCache,
  signRequest,
  unsignedPayload,
  type SigningContext,
} from '@svc/encoding';
import { Agent, type Dispatcher } from 'undici';
import type { BlockLogger, S3StoreConfig, StaticCredentials } from '../../config.ts';
import { BlockError, notBegun } from '../../errors.ts';
import {
  backOffMs,
  connectionFailure,
  headerOf,
  refusalText,
  sendPaced,
  type StoreResponse,
} from '../../remote/connection.ts';
import type { RenewingCredentials } from './credentials.ts';
import { S3Endpoint, type S3Location } from './endpoint.ts';
import { isRetryable, refusalError, type S3Refusal } from './errors.ts';
import { BucketRegions } from './regions.ts';
import type { LeanAnswer } from '../../remote/lean-connection.ts';
import { LeanClient } from '../../remote/lean-client.ts';
import { piecesOf, type RequestBody } from '../../remote/request-body.ts';
import { childText, parseXml } from '../../remote/xml.ts';

const connections = 256;
/** Several large reads at once use the line to the store as well as stripes of one would. */
const mostBusyForStripes = 16;

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly bucket: string;
  readonly key?: string;
  readonly query?: readonly (readonly [name: string, value: string])[];
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  readonly signal?: AbortSignal | undefined;
  /** Asked right before the request is sent, each time; when it says no, it is not. */
  readonly mayGoOn?: (() => boolean) | undefined;
  /** How long the store may think before it answers; default the chunk timeout. */
  readonly answerTimeoutMs?: number;
}

/** Sends signed requests: finds the region, retries what may be retried, turns refusals into `BlockError`s. */
export class S3Client {
  readonly #config: S3StoreConfig;
  readonly #credentials: RenewingCredentials;
  readonly #logger: BlockLogger | undefined;
  readonly #endpoint: S3Endpoint;
  readonly #presignEndpoint: S3Endpoint;
  readonly #agent: Agent;
  readonly #lean: LeanClient;
  readonly #keys = new SigningKeyCache();
  readonly #chunkTimeoutMs: number;
  readonly #maxRetries: number;
  readonly regions: BucketRegions;
  /** How far the store's clock is ahead of ours, learnt when it complains. */
  #clockOffsetMs = 0;

  constructor(config: S3StoreConfig, credentials: RenewingCredentials, logger: BlockLogger | undefined) {
    this.#config = config;
    this.#credentials = credentials;
    this.#logger = logger;
    const pathStyle = config.forcePathStyle ?? false;
    this.#endpoint = new S3Endpoint(config.endpoint, pathStyle, 's3.endpoint');
    this.#presignEndpoint = new S3Endpoint(
      config.preSignedEndpoint || config.endpoint,
      pathStyle,
      's3.pre_signed_endpoint',
    );
    this.#chunkTimeoutMs = config.streamingChunkTimeoutMs ?? 60_000;
    this.#maxRetries = config.maxRetries ?? 5;
    if (!((config.streamingChunkSize ?? 1024 * 1024) >= 8192)) {
      throw new BlockError('configuration', 's3.streaming_chunk_size must be at least 8192');
    }
    if (!(this.#chunkTimeoutMs > 0)) {
      throw new BlockError('configuration', 's3.streaming_chunk_timeout must be greater than 0');
    }
    this.#agent = new Agent({
      connections,
      pipelining: 1,
      bodyTimeout: this.#chunkTimeoutMs,
      connect: { timeout: 10_000, rejectUnauthorized: config.skipVerifyCertificateTestOnly !== true },
    });
    this.#lean = new LeanClient({
      timeoutMs: this.#chunkTimeoutMs,
      maxConnections: connections,
      rejectUnauthorized: config.skipVerifyCertificateTestOnly !== true,
    });
    this.regions = new BucketRegions({
      fallback: config.region || 'us-east-1',
      discover: config.discoverBucketRegion ?? true,
      ask: (bucket) => this.#askRegion(bucket),
      logger,
    });
  }

  /** One connection gives little, and few others are busy: several for one object are worth their cost. */
  get isWorthStripes(): boolean {
    return this.#lean.speed.isSlow && this.#lean.connectionsInUse <= mostBusyForStripes;
  }

  /** Connections with a request on them. */
  get connectionsInUse(): number {
    const others = Object.values(this.#agent.stats).reduce((sum, { running }) => sum + running, 0);
    return others + this.#lean.connectionsInUse;
  }

  /**
   * The answer about one object, when all goes well at once; else it has to be asked for with `send`, after so many
   * attempts. What is sent is one piece.
   */
  async sendLean(
    request: S3Request & { readonly method: 'GET' | 'HEAD' | 'PUT'; readonly query?: undefined },
  ): Promise<LeanAnswer | { readonly attempts: number }> {
    const asked = this.regions.of(request.bucket);
    const region = typeof asked === 'string' ? asked : await asked;
    const current = this.#credentials.get();
    const context = this.#context(current instanceof Promise ? await current : current, region);
    const location = this.#endpoint.locate(region, request.bucket, request.key);
    const { headers, body } = this.#prepare(request, location, context);
    if (body !== undefined && !(body instanceof Uint8Array)) return { attempts: 0 };
    this.#logRequest(request, location);
    const { method, signal } = request;
    const { origin, path } = location;
    const answer = await this.#lean.send({ method, origin, path, headers, body, signal });
    if (answer === undefined) return { attempts: 0 };
    if (answer.status < 300) return answer;
    const refusal = refusalOf(answer.status, answer.body.bytes?.toString() ?? '');
    const target = `s3://${request.bucket}/${request.key ?? ''}`;
    if (this.#maxRetries > 0) {
      if (this.#correct(request.bucket, (name) => answer.header(name), refusal)) return { attempts: 1 };
      if (isRetryable(refusal)) {
        await this.#backOff(1, target, `${refusal.status} ${refusal.code}`, request.signal);
        return { attempts: 1 };
      }
    }
    throw refusalError(refusal, accessOf(request), target);
  }

  /** A successful response; its body must be read or dumped. So many attempts were made before. */
  async send(request: S3Request, attempts = 0): Promise<StoreResponse> {
    const target = `s3://${request.bucket}/${request.key ?? ''}`;
    let corrected = false;
    for (let attempt = attempts + 1; ; attempt++) {
      const mayRetry = attempt <= this.#maxRetries && request.body?.kind !== 'stream';
      let response: Dispatcher.ResponseData;
      try {
        response = await this.#attempt(request, await this.regions.of(request.bucket));
      } catch (error) {
        if (request.signal?.aborted === true) throw request.signal.reason;
        const failure = connectionFailure(error);
        if (failure === undefined) throw error;
        if (!mayRetry) {
          throw new BlockError('unavailable', `${target}: the store could not be reached: ${failure}`, {
            cause: error,
          });
        }
        await this.#backOff(attempt, target, failure, request.signal);
        continue;
      }
      if (response.statusCode < 300) {
        return {
          status: response.statusCode,
          header: (name) => headerOf(response, name),
          body: response.body,
          retries: attempt - 1,
        };
      }
      const refusal = refusalOf(response.statusCode, await refusalText(response));
      const header = (name: string): string | undefined => headerOf(response, name);
      if (!corrected && attempt <= this.#maxRetries && this.#correct(request.bucket, header, refusal)) {
        corrected = true;
        if (request.body?.kind !== 'stream') continue;
      }
      if (!mayRetry || !isRetryable(refusal)) throw refusalError(refusal, accessOf(request), target);
      await this.#backOff(attempt, target, `${refusal.status} ${refusal.code}`, request.signal);
    }
  }

  /** Learns from a refusal that a differently signed request may pass; true when there was something to learn. */
  #correct(bucket: string, header: (name: string) => string | undefined, refusal: S3Refusal): boolean {
    if (refusal.code === 'RequestTimeTooSkewed') {
      const date = Date.parse(header('date') ?? '');
      if (Number.isNaN(date)) return false;
      this.#clockOffsetMs = date - Date.now();
      return true;
    }
    if (refusal.code === 'ExpiredToken' || refusal.code === 'TokenRefreshRequired') {
      this.#credentials.forget();
      return true;
    }
    const region = header('x-amz-bucket-region');
    return region !== undefined && this.regions.learn(bucket, region);
  }

  async #backOff(
    attempt: number,
    target: string,
    cause: string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const wait = backOffMs(attempt);
    if (this.#config.clientLogRetries === true) {
      this.#logger?.debug(
        { target, attempt, cause, waitMs: Math.round(wait) },
        'retrying a request to the object store',
      );
    }
    await delay(wait, undefined, signal === undefined ? {} : { signal });
  }

  #logRequest({ method }: S3Request, { host, path }: S3Location): void {
    if (this.#config.clientLogRequest !== true) return;
    this.#logger?.debug({ method, host, path }, 'request to the object store');
  }

  async #attempt(request: S3Request, region: string): Promise<Dispatcher.ResponseData> {
    const location = this.#endpoint.locate(region, request.bucket, request.key);
    const credentials = await this.#credentials.get();
    const { headers, body } = this.#prepare(request, location, this.#context(credentials, region));
    const query = encodeQuery(request.query ?? []);
    this.#logRequest(request, location);
    const send = (options: Partial<Dispatcher.RequestOptions>): Promise<Dispatcher.ResponseData> =>
      this.#agent.request({
        origin: location.origin,
        path: query === '' ? location.path : `${location.path}?${query}`,
        method: request.method,
        headers,
        headersTimeout: request.answerTimeoutMs ?? this.#chunkTimeoutMs,
        ...options,
      });
    const signal = request.signal === undefined ? {} : { signal: request.signal };
    if (request.mayGoOn?.() === false) throw notBegun();
    if (body === undefined || body instanceof Uint8Array)
      return await send({ body: body ?? null, ...signal });
    return await sendPaced(body, this.#chunkTimeoutMs, send, request.signal);
  }

  /** The signed headers and what goes over the wire as body. */
  #prepare(
    request: S3Request,
    location: S3Location,
    context: SigningContext,
  ): {
    readonly headers: Record<string, string>;
    readonly body: Uint8Array | AsyncIterable<Uint8Array> | Iterable<Uint8Array> | undefined;
  } {
    const { body } = request;
    const headers: Record<string, string> = { ...request.headers, host: location.host };
    const base = { method: request.method, path: location.path, query: encodeQuery(request.query ?? []) };
    if (body === undefined) {
      return {
        headers: signRequest({ ...base, headers, payloadHash: emptySha256 }, context).headers,
        body: undefined,
      };
    }
    headers['content-length'] = String(body.size);
    // What is asked of the store is signed where TLS does not protect it. Data is not: hashing it to sign it takes longer
    // than sending it, here and in the store.
    const isSigned = request.method === 'POST' && body.kind === 'bytes' && this.#endpoint.isPlainHttp;
    const payloadHash = isSigned ? sha256Of(body.chunks) : unsignedPayload;
    const signed = signRequest({ ...base, headers, payloadHash }, context);
    if (body.kind === 'stream') {
      return { headers: signed.headers, body: piecesOf(body.stream, body.size) };
    }
    return { headers: signed.headers, body: body.chunks.length === 1 ? body.chunks[0] : body.chunks };
  }

  #context(credentials: StaticCredentials, region: string): SigningContext {
    return {
      credentials,
      region,
      service: 's3',
      now: new Date(Date.now() + this.#clockOffsetMs),
      keys: this.#keys,
    };
  }

  async #askRegion(bucket: string): Promise<string | undefined> {
    const region = this.regions.fallback;
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await this.#attempt({ method: 'HEAD', bucket }, region);
        await response.body.dump();
        const found = headerOf(response, 'x-amz-bucket-region');
        if (found !== undefined || response.statusCode < 500) return found;
        throw new BlockError('unavailable', `the store answered ${response.statusCode}`);
      } catch (error) {
        if (attempt > this.#maxRetries) throw error;
        await this.#backOff(attempt, `s3://${bucket}`, String(error), undefined);
      }
    }
  }

  /** A URL that carries its own signature, and when it ends. */
  async presign(
    method: 'GET' | 'PUT',
    bucket: string,
    key: string,
    query: readonly (readonly [name: string, value: string])[],
  ): Promise<{ url: string; expiry: Date }> {
    const credentials = await this.#credentials.get();
    const region = await this.regions.of(bucket);
    const now = new Date(Math.floor(Date.now() / 1000) * 1000);
    const wanted = new Date(now.getTime() + (this.#config.preSignedExpiryMs ?? 15 * 60_000));
    const { expiration } = credentials;
    const expiry = expiration !== undefined && expiration < wanted ? expiration : wanted;
    const location = this.#presignEndpoint.locate(region, bucket, key);
    const signed = presignQuery(
      {
        method,
        host: location.host,
        path: location.path,
        query,
        expiresSeconds: Math.max(1, Math.floor((expiry.getTime() - now.getTime()) / 1000)),
      },
      { ...this.#context(credentials, region), now },
    );
    return { url: `${location.origin}${location.path}?${signed}`, expiry };
  }

  async close(): Promise<void> {
    this.#lean.close();
    await this.#agent.destroy();
  }
}

function accessOf({ method }: S3Request): 'read' | 'write' {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'write';
}

function refusalOf(status: number, text: string): S3Refusal {
  const error = parseXml(text);
  return {
    status,
    code: childText(error, 'Code') ?? '',
    message: childText(error, 'Message') ?? '',
  };
}

function sha256Of(chunks: readonly Uint8Array[]): string {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return hash('sha256', only, 'hex');
  const hashing = createHash('sha256');
  for (const chunk of chunks) hashing.update(chunk);
  return hashing.digest('hex');
}
