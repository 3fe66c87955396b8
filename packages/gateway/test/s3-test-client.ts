import { hash } from 'node:crypto';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import {
  presignQuery,
  signRequest,
  sigV4Encode,
  SigningKeyCache,
  type ChunkSigner,
  type SigningContext,
} from '@svc/encoding';

export interface S3Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly text: string;
  /** The text of the first element of that name, undefined when there is none. */
  xml(name: string): string | undefined;
  /** The texts of all elements of that name. */
  all(name: string): string[];
  /** `<Code>` of an error document. */
  readonly code: string | undefined;
  /** Whether `100 Continue` came first. */
  readonly continued: boolean;
}

export interface S3Call {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  /** Default SHA-256 of the body. */
  readonly payloadHash?: string;
  readonly host?: string;
  readonly now?: Date;
  readonly region?: string;
  /** Added after signing. */
  readonly unsignedHeaders?: Readonly<Record<string, string>>;
  /** Frames the body after signing. */
  readonly frame?: (signer: ChunkSigner, body: Buffer) => Buffer;
  /** Sends the path as is instead of encoding it. */
  readonly rawPath?: boolean;
  /** Send nothing but the head and wait for 100 Continue before the body. */
  readonly expect?: boolean;
  readonly unsigned?: boolean;
}

const decodeEntities = (text: string): string =>
  text
    .replaceAll(/&#x([0-9A-Fa-f]+);/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');

/** Raw S3 requests with full control over what goes on the wire. */
export class S3TestClient {
  readonly #port: number;
  readonly #credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly #agent = new Agent({ keepAlive: true });
  readonly #keys = new SigningKeyCache();

  constructor(options: {
    readonly port: number;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  }) {
    this.#port = options.port;
    this.#credentials = options;
  }

  #context(now: Date, region: string): SigningContext {
    return { credentials: this.#credentials, region, service: 's3', now, keys: this.#keys };
  }

  presign(
    method: string,
    path: string,
    options: { expires?: number; now?: Date; query?: [string, string][] } = {},
  ): string {
    const encoded = sigV4Encode(path, 'keep');
    const query = presignQuery(
      {
        method,
        host: `127.0.0.1:${this.#port}`,
        path: encoded,
        query: options.query ?? [],
        expiresSeconds: options.expires ?? 3600,
      },
      this.#context(options.now ?? new Date(), 'us-east-1'),
    );
    return `${encoded}?${query}`;
  }

  get(path: string, call: S3Call = {}): Promise<S3Response> {
    return this.send('GET', path, call);
  }

  head(path: string, call: S3Call = {}): Promise<S3Response> {
    return this.send('HEAD', path, call);
  }

  put(path: string, body: Buffer | string, call: S3Call = {}): Promise<S3Response> {
    return this.send('PUT', path, { ...call, body });
  }

  post(path: string, body: Buffer | string, call: S3Call = {}): Promise<S3Response> {
    return this.send('POST', path, { ...call, body });
  }

  delete(path: string, call: S3Call = {}): Promise<S3Response> {
    return this.send('DELETE', path, call);
  }

  send(method: string, path: string, call: S3Call = {}): Promise<S3Response> {
    const encoded = call.rawPath === true ? path : sigV4Encode(path, 'keep');
    const query = call.query ?? '';
    const plain = Buffer.from(call.body ?? '');
    const host = call.host ?? `127.0.0.1:${this.#port}`;
    const headers: Record<string, string> = { host };
    for (const [name, value] of Object.entries(call.headers ?? {})) headers[name.toLowerCase()] = value;
    const target = query === '' ? encoded : `${encoded}?${query}`;
    if (call.unsigned === true)
      return this.raw(method, target, { ...headers, ...call.unsignedHeaders }, plain);
    const signed = signRequest(
      {
        method,
        path: encoded,
        query: canonical(query),
        headers,
        payloadHash: call.payloadHash ?? hash('sha256', plain),
      },
      this.#context(call.now ?? new Date(), call.region ?? 'us-east-1'),
    );
    const body = call.frame === undefined ? plain : call.frame(signed.chunkSigner, plain);
    return this.raw(method, target, { ...signed.headers, ...call.unsignedHeaders }, body, call.expect);
  }

  raw(
    method: string,
    target: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer = Buffer.alloc(0),
    expect = false,
  ): Promise<S3Response> {
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest({
        agent: expect ? new Agent() : this.#agent,
        host: '127.0.0.1',
        port: this.#port,
        method,
        path: target,
        headers: {
          ...headers,
          ...(body.length > 0 && headers['transfer-encoding'] === undefined
            ? { 'content-length': String(body.length) }
            : {}),
          ...(expect ? { expect: '100-continue' } : {}),
        },
      });
      let continued = false;
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        const pieces: Buffer[] = [];
        incoming.on('data', (piece: Buffer) => pieces.push(piece));
        incoming.on('error', reject);
        incoming.on('end', () => {
          outgoing.destroy();
          const content = Buffer.concat(pieces);
          const text = content.toString('utf8');
          const all = (name: string): string[] =>
            [...text.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map((match) =>
              decodeEntities(match[1] ?? ''),
            );
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            rawHeaders: incoming.rawHeaders,
            body: content,
            text,
            all,
            xml: (name) => all(name)[0],
            code: all('Code')[0],
            continued,
          });
        });
      });
      if (expect) {
        outgoing.on('continue', () => {
          continued = true;
          outgoing.end(body);
        });
        outgoing.flushHeaders();
      } else {
        outgoing.end(body);
      }
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Sorts a query that is already encoded. */
function canonical(query: string): string {
  if (query === '') return '';
  return query
    .split('&')
    .filter((item) => item !== '')
    .map((item) => (item.includes('=') ? item : `${item}=`))
    .sort()
    .join('&');
}
