import { lookup as systemLookup } from 'node:dns/promises';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { AddressRule } from './address-rule.ts';
import { OutgoingError } from './errors.ts';
import { proxyOf, type ProxyVariables } from './proxy.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export interface OutgoingOptions {
  readonly rule: AddressRule;
  /** Where proxies are named; absent: none is used. A proxy decides by itself which addresses it calls. */
  readonly proxyVariables?: ProxyVariables | undefined;
  /** Every address of a name; the system's resolver when absent. */
  readonly resolve?: ((name: string) => Promise<readonly ResolvedAddress[]>) | undefined;
  /** Stands around every request, and may send another one in its place. */
  readonly around?:
    | ((
        request: OutgoingRequest,
        send: (request: OutgoingRequest) => Promise<OutgoingAnswer>,
      ) => Promise<OutgoingAnswer>)
    | undefined;
  /** PEM certificates trusted instead of the system's. */
  readonly ca?: string | undefined;
}

export interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  /** From the first step to the last byte of the answer, redirects included. */
  readonly timeoutMs: number;
  /** The longest silence of the other side. */
  readonly idleTimeoutMs?: number | undefined;
  /** A larger answer is an error. */
  readonly maxAnswerBytes: number;
  /** How much of the answer is kept; all of it when absent. */
  readonly keepBytes?: number | undefined;
  /** With 0 a redirect is an answer like any other. */
  readonly maxRedirects: number;
  readonly signal?: AbortSignal | undefined;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: string;
  /** Names and values in turn, as received. */
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** More was received than is kept. */
  readonly isCut: boolean;
}

/**
 * How long a connection waits for its next request, and how many of one host do. Shorter than receivers wait: one that
 * ends just when a request takes it fails the request. What was checked when it was made stays true of it: a name that
 * means another address by now does not move it.
 */
const waiting = { keepAlive: true, timeout: 1000, maxFreeSockets: 16 } as const;
/** Receiving such a request twice is as good as once. */
const repeatable = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

/** Sends requests to addresses that users name, and only to those a rule allows. */
export class Outgoing {
  readonly #options: OutgoingOptions;
  readonly #plain = new HttpAgent(waiting);
  readonly #tls = new HttpsAgent(waiting);

  constructor(options: OutgoingOptions) {
    this.#options = options;
  }

  send(request: OutgoingRequest): Promise<OutgoingAnswer> {
    const { around } = this.#options;
    return around === undefined ? this.#send(request) : around(request, (given) => this.#send(given));
  }

  async #send(request: OutgoingRequest): Promise<OutgoingAnswer> {
    const deadline = Date.now() + request.timeoutMs;
    let step = request;
    for (let redirects = 0; ; redirects += 1) {
      const url = parseUrl(step.url);
      const answer = await this.#answerTo(step, url, deadline);
      const target = redirectOf(answer, url);
      if (target === undefined || request.maxRedirects === 0) return answer;
      if (redirects === request.maxRedirects) {
        throw new OutgoingError('redirects', `stopped after ${request.maxRedirects} redirects`);
      }
      step = redirected(step, url, target, answer.status);
    }
  }

  /** Throws unless a request to this address would be sent. The name is looked up again when it is. */
  async check(text: string): Promise<void> {
    const url = parseUrl(text);
    await this.#resolve(url.hostname.replace(/^\[|\]$/g, ''), url.host);
  }

  /**
   * Where a host is, if a connection may go there. Who connects to it does so to these addresses: the name may mean
   * others the next time.
   */
  async resolve(host: string): Promise<readonly ResolvedAddress[]> {
    const addresses = await this.#resolve(host, host);
    if (addresses.length === 0) throw new OutgoingError('network', `${host} has no address`);
    return addresses;
  }

  async #resolve(host: string, shown: string): Promise<readonly ResolvedAddress[]> {
    const { rule, resolve = systemResolve } = this.#options;
    const family = isIP(host);
    try {
      const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
      for (const { address } of addresses) checkAddress(rule, address);
      return addresses;
    } catch (error) {
      throw asOutgoingError(error, shown);
    }
  }

  /**
   * The other side may end a waiting connection just when a request takes it. Then it is sent over a new one, if the
   * other side cannot have received it, or may receive it twice.
   */
  async #answerTo(request: OutgoingRequest, url: URL, deadline: number): Promise<OutgoingAnswer> {
    try {
      return await this.#once(request, url, deadline, true);
    } catch (error) {
      if (!(error instanceof LostConnection)) throw error;
      return this.#once(request, url, deadline, false);
    }
  }

  async #once(
    request: OutgoingRequest,
    url: URL,
    deadline: number,
    mayReuse: boolean,
  ): Promise<OutgoingAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<OutgoingAnswer>();
    let sent: ClientRequest;
    try {
      sent = this.#open(request, url, mayReuse);
    } catch (error) {
      throw asOutgoingError(error, url.host);
    }
    const fail = (error: OutgoingError): void => {
      reject(error);
      sent.destroy(error);
    };
    const timer = setTimeout(
      () => fail(new OutgoingError('timeout', `no answer within ${secondsOf(request.timeoutMs)}`)),
      Math.max(0, deadline - Date.now()),
    );
    const cancel = (): void => fail(new OutgoingError('cancelled', 'the request was cancelled'));
    request.signal?.addEventListener('abort', cancel, { once: true });
    if (request.signal?.aborted === true) cancel();
    const { idleTimeoutMs } = request;
    if (idleTimeoutMs !== undefined) {
      sent.setTimeout(idleTimeoutMs, () =>
        fail(new OutgoingError('timeout', `${url.host} was silent for ${secondsOf(idleTimeoutMs)}`)),
      );
    }
    let writtenBefore = 0;
    sent.on('socket', (socket) => {
      writtenBefore = socket.bytesWritten;
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const isLost = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      // What could not be written whole was not received whole.
      const isUnsent = error.code === 'EPIPE' || sent.socket?.bytesWritten === writtenBefore;
      const isRepeatable = isUnsent || repeatable.has(request.method);
      reject(isLost && isRepeatable ? new LostConnection() : asOutgoingError(error, url.host));
    });
    sent.on('response', (answer) => {
      collect(answer, request).then(resolve, (error: unknown) => fail(asOutgoingError(error, url.host)));
    });
    sent.end(request.body);
    return promise.finally(() => {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', cancel);
    });
  }

  #open(request: OutgoingRequest, url: URL, mayReuse: boolean): ClientRequest {
    const { rule, proxyVariables = {}, ca } = this.#options;
    const proxy = proxyOf(url, proxyVariables);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (proxy === undefined && isIP(host) !== 0) checkAddress(rule, host);
    const isTls = url.protocol === 'https:';
    const Agent = isTls ? HttpsAgent : HttpAgent;
    const direct = mayReuse ? (isTls ? this.#tls : this.#plain) : new Agent({ keepAlive: false });
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    const options: RequestOptions & { ca?: string } = {
      method: request.method,
      headers: request.headers as RequestOptions['headers'],
      host,
      port: url.port === '' ? undefined : url.port,
      path: `${url.pathname}${url.search}`,
      ...(credentials === ':' ? {} : { auth: credentials }),
      ...(ca === undefined ? {} : { ca }),
      ...(proxy === undefined
        ? { agent: direct, lookup: this.#lookup }
        : { agent: new Agent({ keepAlive: false, proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }) }),
    };
    return isTls ? httpsRequest(options) : httpRequest(options);
  }

  /** Resolves once and hands out only what was checked, so that a second answer of the resolver changes nothing. */
  readonly #lookup: LookupFunction = (name, options, found) => {
    const { rule, resolve = systemResolve } = this.#options;
    resolve(name).then(
      (addresses) => {
        try {
          for (const { address } of addresses) checkAddress(rule, address);
        } catch (error) {
          found(error as Error, '');
          return;
        }
        const usable = addresses.filter(({ family }) => !options.family || options.family === family);
        const [first] = usable;
        if (first === undefined) found(new Error(`${name} has no address`), '');
        else if (options.all === true) found(null, [...usable]);
        else found(null, first.address, first.family);
      },
      (error: unknown) => found(error as Error, ''),
    );
  };
}

/** A connection that had waited ended before the first byte of an answer. */
class LostConnection extends Error {
  override readonly name = 'LostConnection';
}

function systemResolve(name: string): Promise<readonly ResolvedAddress[]> {
  return systemLookup(name, { all: true });
}

function checkAddress(rule: AddressRule, address: string): void {
  if (!rule.allows(address)) {
    throw new OutgoingError('refused_address', `address ${address} is not allowed (${rule.setting})`);
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new OutgoingError('bad_url', 'the URL cannot be read');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutgoingError('bad_url', `unsupported protocol scheme "${url.protocol.slice(0, -1)}"`);
  }
  return url;
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

function redirectOf(answer: OutgoingAnswer, from: URL): URL | undefined {
  const { location } = answer.headers;
  if (!redirectStatuses.has(answer.status) || location === undefined) return undefined;
  if (!URL.canParse(location, from)) throw new OutgoingError('redirects', 'the redirect cannot be read');
  return new URL(location, from);
}

function redirected(request: OutgoingRequest, from: URL, to: URL, status: number): OutgoingRequest {
  const repeats = status === 307 || status === 308 || request.method === 'GET' || request.method === 'HEAD';
  const headers = Object.entries(request.headers ?? {}).filter(
    // Another host is not the one that was given the headers, which may be secret.
    ([name]) => to.origin === from.origin || /^(?:accept|content-type|user-agent)$/i.test(name),
  );
  const kept = repeats ? headers : headers.filter(([name]) => !/^content-/i.test(name));
  const next = { ...request, url: to.href, headers: Object.fromEntries(kept) };
  return repeats ? next : { ...next, method: 'GET', body: undefined };
}

async function collect(answer: IncomingMessage, request: OutgoingRequest): Promise<OutgoingAnswer> {
  const { maxAnswerBytes, keepBytes = maxAnswerBytes } = request;
  const kept: Buffer[] = [];
  let received = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    const room = keepBytes - received;
    if (room > 0) kept.push(chunk.subarray(0, room));
    received += chunk.length;
    if (received > maxAnswerBytes) {
      throw new OutgoingError('too_large', `the answer is larger than ${sizeOf(maxAnswerBytes)}`);
    }
  }
  return {
    status: answer.statusCode ?? 0,
    statusText: answer.statusMessage ?? '',
    httpVersion: answer.httpVersion,
    rawHeaders: answer.rawHeaders,
    headers: answer.headers,
    body: Buffer.concat(kept),
    isCut: received > keepBytes,
  };
}

function asOutgoingError(error: unknown, host: string): OutgoingError {
  if (error instanceof OutgoingError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const reason =
    code === 'ENOTFOUND' || code === 'EAI_AGAIN'
      ? `no such host (${code})`
      : code === undefined || message.includes(code)
        ? message
        : `${message} (${code})`;
  return new OutgoingError('network', `${host}: ${reason === '' ? 'connection failed' : reason}`, {
    cause: error,
  });
}

function secondsOf(ms: number): string {
  return `${ms / 1000} s`;
}

function sizeOf(bytes: number): string {
  return bytes % 1024 ** 2 === 0 ? `${bytes / 1024 ** 2} MiB` : `${bytes} bytes`;
}
