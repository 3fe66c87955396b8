import { createHash } from 'node:crypto';
import { encodeQuery, sigV4Encode } from '@svc/encoding';
import type { BucketObject } from '../../address.ts';
import type { BlockLogger, GsStoreConfig } from '../../config.ts';
import { BlockError } from '../../errors.ts';
import type { StoreResponse } from '../../remote/connection.ts';
import type { RequestBody } from '../../remote/request-body.ts';
import { StoreHttp, type PreparedRequest, type Refusal } from '../../remote/store-http.ts';
import type { GsCredentials } from './credentials.ts';
import { signUrl } from './signed-url.ts';

const googleEndpoint = 'https://storage.googleapis.com';
const silenceMs = 60_000;

export interface GsRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly target: BucketObject;
  /** Below the endpoint, or a whole URL that the service has named. */
  readonly path: string;
  readonly query?: readonly (readonly [name: string, value: string])[];
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody | undefined;
  readonly access: 'read' | 'write';
  readonly signal?: AbortSignal | undefined;
  readonly answerTimeoutMs?: number;
  readonly once?: boolean;
  readonly mayGoOn?: (() => boolean) | undefined;
  readonly accepts?: (status: number) => boolean;
}

/** Where an emulator is, by the variable that Google's own libraries read. */
export function gsEndpoint(config: GsStoreConfig, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = config.endpoint || env['STORAGE_EMULATOR_HOST'] || undefined;
  if (named === undefined) return undefined;
  const text = /^https?:\/\//.test(named) ? named : `http://${named}`;
  if (URL.parse(text) === null) {
    throw new BlockError('configuration', `STORAGE_EMULATOR_HOST "${named}" is not a host or URL`);
  }
  return text.replace(/\/+$/, '');
}

/** Sends requests of the JSON API, with a token of ours. */
export class GsClient {
  readonly #http: StoreHttp;
  readonly #endpoint: string;
  readonly #credentials: GsCredentials;
  readonly #expiryMs: number;
  readonly maxRetries: number;
  /** Headers of the customer's own key, and the same for the source of a copy. */
  readonly encryption: Readonly<Record<string, string>> | undefined;
  readonly kmsKey: string | undefined;

  constructor(config: GsStoreConfig, credentials: GsCredentials, logger: BlockLogger | undefined) {
    this.#credentials = credentials;
    this.#endpoint = gsEndpoint(config) ?? googleEndpoint;
    this.#expiryMs = config.preSignedExpiryMs || 15 * 60_000;
    this.encryption = encryptionHeaders(config.serverSideEncryptionCustomerSupplied);
    this.kmsKey = config.serverSideEncryptionKmsKeyId || undefined;
    this.maxRetries = config.maxRetries ?? 5;
    this.#http = new StoreHttp(
      {
        readRefusal,
        // The service says the same of a missing bucket and of a missing object: nothing missing stops a write but a bucket.
        kindOf: ({ status }, access) =>
          status === 404 && access === 'write' ? 'invalid_namespace' : undefined,
        correct: ({ status }) => {
          if (status !== 401 || credentials.token === undefined) return false;
          credentials.token.forget();
          return true;
        },
      },
      { logger, timeoutMs: config.answerTimeoutMs ?? silenceMs, maxRetries: this.maxRetries },
    );
  }

  get connectionsInUse(): number {
    return this.#http.connectionsInUse;
  }

  /** A successful response; its body must be read or dumped. */
  send(request: GsRequest): Promise<StoreResponse> {
    const { target } = request;
    return this.#http.send({
      ...request,
      target: `gs://${target.bucket}/${target.key}`,
      prepare: () => this.#prepare(request),
    });
  }

  async #prepare({ path, query = [], headers = {} }: GsRequest): Promise<PreparedRequest> {
    const url = new URL(path.startsWith('/') ? `${this.#endpoint}${path}` : path);
    const encoded = encodeQuery(query);
    const all: Record<string, string> = { ...headers };
    const token = await this.#credentials.token?.get();
    if (token !== undefined) all['authorization'] = `Bearer ${token.token}`;
    const search = encoded === '' ? url.search : `?${encoded}`;
    return { origin: url.origin, path: `${url.pathname}${search}`, headers: all };
  }

  /** A URL that carries its own permission, and when it ends. */
  async presign(
    method: 'GET' | 'PUT',
    { bucket, key }: BucketObject,
    query: readonly (readonly [name: string, value: string])[],
  ): Promise<{ url: string; expiry: Date }> {
    const { signer } = this.#credentials;
    if (signer === undefined) {
      throw new BlockError(
        'not_supported',
        'operation not supported: the Google credentials cannot sign URLs; use a service account',
      );
    }
    if (this.encryption !== undefined) {
      throw new BlockError(
        'not_supported',
        'operation not supported: objects encrypted with gs.server_side_encryption_customer_supplied have no pre-signed URLs',
      );
    }
    const now = new Date(Math.floor(Date.now() / 1000) * 1000);
    const expiresSeconds = Math.max(1, Math.floor(this.#expiryMs / 1000));
    const url = await signUrl(
      { method, endpoint: this.#endpoint, bucket, key, query, now, expiresSeconds },
      signer,
    );
    return { url, expiry: new Date(now.getTime() + expiresSeconds * 1000) };
  }

  async close(): Promise<void> {
    await this.#http.close();
  }
}

export function objectPath({ bucket, key }: BucketObject): string {
  return `/storage/v1/b/${sigV4Encode(bucket, 'encode')}/o/${sigV4Encode(key, 'encode')}`;
}

function encryptionHeaders(hexKey: string | undefined): Record<string, string> | undefined {
  if (!hexKey) return undefined;
  if (!/^[0-9a-fA-F]{64}$/.test(hexKey)) {
    throw new BlockError(
      'configuration',
      'gs.server_side_encryption_customer_supplied must be 32 bytes written as 64 hexadecimal digits',
    );
  }
  const key = Buffer.from(hexKey, 'hex');
  return {
    'x-goog-encryption-algorithm': 'AES256',
    'x-goog-encryption-key': key.toString('base64'),
    'x-goog-encryption-key-sha256': createHash('sha256').update(key).digest('base64'),
  };
}

interface ErrorAnswer {
  readonly error?: { readonly message?: string; readonly errors?: { readonly reason?: string }[] };
}

function readRefusal(status: number, text: string): Refusal {
  let answer: ErrorAnswer = {};
  try {
    answer = JSON.parse(text) as ErrorAnswer;
  } catch {
    // Reads of content are refused in plain words.
    return { status, code: '', message: text.split('\n', 1)[0]?.slice(0, 200) ?? '' };
  }
  return { status, code: answer.error?.errors?.[0]?.reason ?? '', message: answer.error?.message ?? '' };
}
