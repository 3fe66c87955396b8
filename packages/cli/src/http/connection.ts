import { userAgent } from '../version.ts';
import { createApiClient, type ApiClient } from './api-client.ts';
import type { HttpRequest, HttpResponse, HttpSender } from './http-sender.ts';

/** The server: typed calls, and plain requests for object data. */
export class Connection {
  readonly client: ApiClient;
  /** The API's address, such as `http://localhost:8000/api/v1`. */
  readonly apiUrl: string;
  readonly sender: HttpSender;
  readonly #authorize: () => Promise<string>;

  constructor(parts: { apiUrl: string; sender: HttpSender; authorize: () => Promise<string> }) {
    this.apiUrl = parts.apiUrl;
    this.sender = parts.sender;
    this.#authorize = parts.authorize;
    this.client = createApiClient((request) => this.api(request));
  }

  /** A request to the API with who asks; `path` begins after `/api/v1`. */
  async api(request: Omit<HttpRequest, 'url'> & { readonly path: string }): Promise<HttpResponse> {
    const { path, headers, ...rest } = request;
    const own = {
      authorization: await this.#authorize(),
      'user-agent': userAgent(),
      'x-lakefs-client': userAgent(),
    };
    return this.sender.send({ ...rest, url: this.apiUrl + path, headers: { ...headers, ...own } });
  }
}
