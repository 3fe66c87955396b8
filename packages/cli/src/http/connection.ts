import { ApiError, createClient, type Client } from '@svc/client';
import { CliError } from '../errors.ts';
import { userAgent } from '../version.ts';
import { readAll, type HttpRequest, type HttpResponse, type HttpSender } from './http-sender.ts';
import { isOnceOnly } from './retry-policy.ts';

/** The server: typed calls, and plain requests for object data. */
export class Connection {
  readonly client: Client;
  /** The API's address, such as `http://localhost:8000/api/v1`. */
  readonly apiUrl: string;
  readonly sender: HttpSender;
  readonly #authorize: () => Promise<string>;

  constructor(parts: { apiUrl: string; sender: HttpSender; authorize: () => Promise<string> }) {
    this.apiUrl = parts.apiUrl;
    this.sender = parts.sender;
    this.#authorize = parts.authorize;
    this.client = createClient({
      endpoint: parts.apiUrl,
      exactEndpoint: true,
      clientName: userAgent(),
      retry: { attempts: 1 },
      fetch: (request) => this.#fetch(request),
    });
  }

  /** A request to the API with who asks; `path` begins after `/api/v1`. */
  async api(request: Omit<HttpRequest, 'url'> & { readonly path: string }): Promise<HttpResponse> {
    const { path, headers, ...rest } = request;
    const own = { authorization: await this.#authorize(), 'user-agent': userAgent() };
    return this.sender.send({ ...rest, url: this.apiUrl + path, headers: { ...headers, ...own } });
  }

  async #fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const answer = await this.sender.send({
      method: request.method,
      url: request.url,
      headers: {
        ...Object.fromEntries(request.headers),
        authorization: await this.#authorize(),
        'user-agent': userAgent(),
      },
      body: request.body === null ? undefined : new Uint8Array(await request.arrayBuffer()),
      once: isOnceOnly(request.method, pathname),
    });
    const bytes = await readAll(answer.stream);
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined) headers.set(name, String(value));
    }
    const type = headers.get('content-type') ?? '';
    if (answer.status < 300 && bytes.length > 0 && !type.startsWith('text/plain')) checkJson(bytes);
    const empty = answer.status === 204 || answer.status === 205 || answer.status === 304;
    return new Response(empty ? null : new Uint8Array(bytes), { status: answer.status, headers });
  }
}

function checkJson(bytes: Buffer): void {
  try {
    JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new CliError('Bad response from server');
  }
}

/** The refusal in an answer of the API. */
export async function refusalOf(answer: HttpResponse): Promise<ApiError> {
  const text = (await readAll(answer.stream).catch(() => Buffer.alloc(0))).toString('utf8');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const said = (body as { message?: unknown } | undefined)?.message;
  return new ApiError(answer.status, typeof said === 'string' ? said : '', { body });
}

/** Fails unless the status is the expected one; another success is no success. */
export async function expectStatus(answer: HttpResponse, ...expected: number[]): Promise<void> {
  if (expected.includes(answer.status)) return;
  if (answer.status < 200 || answer.status >= 300) throw await refusalOf(answer);
  answer.stream.resume();
  throw new CliError(`the server answered ${answer.status}, expected ${expected.join(' or ')}`);
}
