import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { signRequest, SigningKeyCache, type SigV4Credentials } from '@svc/encoding';
import { MetastoreError, type MetastoreErrorKind } from '../metastore-error.ts';

export interface GlueAccount {
  readonly credentials: SigV4Credentials;
  readonly region: string;
  /** Amazon's own unless given. */
  readonly endpoint?: string | undefined;
  /** The account's own unless given. */
  readonly catalogId?: string | undefined;
  /** Sends requests; `fetch` when absent. */
  readonly send?: SendGlue | undefined;
}

export interface GlueRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Posts a request; fails when there is no answer. */
export type SendGlue = (request: GlueRequest) => Promise<{ readonly status: number; readonly body: string }>;

export type Json = Readonly<Record<string, unknown>>;

const attempts = 6;
const firstWaitMs = 200;
const timeoutMs = 60_000;

const kinds: Readonly<Record<string, MetastoreErrorKind>> = {
  EntityNotFoundException: 'not-found',
  AlreadyExistsException: 'exists',
  InvalidInputException: 'invalid',
};
const throttled = new Set([
  'ThrottlingException',
  'ConcurrentRunsExceededException',
  'TooManyRequestsException',
]);

/** Signed calls of the Glue API. */
export class GlueClient {
  readonly label: string;
  readonly #account: GlueAccount;
  readonly #url: URL;
  readonly #keys = new SigningKeyCache();

  constructor(account: GlueAccount) {
    this.#account = account;
    this.#url = new URL(account.endpoint ?? `https://glue.${account.region}.amazonaws.com`);
    const catalog = account.catalogId ?? '';
    this.label = `the Glue catalog ${catalog === '' ? '' : `${catalog} `}in ${account.region}`;
  }

  async call(operation: string, input: Json): Promise<Json> {
    const { catalogId = '' } = this.#account;
    const body = JSON.stringify(catalogId === '' ? input : { CatalogId: catalogId, ...input });
    for (let attempt = 1; ; attempt += 1) {
      const { status, answer } = await this.#send(operation, body);
      if (status < 300) return answer;
      const code = (textOf(answer['__type']) ?? String(status)).replace(/^.*#/, '');
      const again = throttled.has(code) || status >= 500;
      if (again && attempt < attempts) {
        await pause(firstWaitMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2));
        continue;
      }
      const said = textOf(answer['Message']) ?? textOf(answer['message']) ?? '';
      throw new MetastoreError(
        kinds[code] ?? 'failed',
        `${this.label} refused ${operation}: ${code}${said === '' ? '' : `: ${said}`}`,
      );
    }
  }

  /** Every page of a listing. */
  async *pages(operation: string, input: Json): AsyncGenerator<Json> {
    for (let token: string | undefined; ;) {
      const page = await this.call(operation, token === undefined ? input : { ...input, NextToken: token });
      yield page;
      token = textOf(page['NextToken']);
      if (token === undefined || token === '') return;
    }
  }

  async #send(operation: string, body: string): Promise<{ status: number; answer: Json }> {
    const { credentials, region } = this.#account;
    const { headers } = signRequest(
      {
        method: 'POST',
        path: '/',
        query: '',
        headers: {
          host: this.#url.host,
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': `AWSGlue.${operation}`,
        },
        payloadHash: createHash('sha256').update(body).digest('hex'),
      },
      { credentials, region, service: 'glue', now: new Date(), keys: this.#keys },
    );
    const { host: _host, ...sent } = headers;
    try {
      const { send = fetchAnswer } = this.#account;
      const { status, body: received } = await send({ url: this.#url.href, headers: sent, body });
      return { status, answer: parse(received) };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new MetastoreError(
        'unavailable',
        `${this.label} did not answer ${operation} at ${this.#url.origin}: ${cause instanceof Error ? cause.message : String(cause)}`,
      );
    }
  }
}

const fetchAnswer: SendGlue = async ({ url, headers, body }) => {
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  return { status: response.status, body: await response.text() };
};

function parse(body: string): Json {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Json) : {};
  } catch {
    // A proxy's page, perhaps: the status says enough.
    return {};
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
