import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';

interface SentBody {
  readonly size: number;
  sendTo(sink: Writable): Promise<void>;
}

export interface ReplyOptions {
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly hostId: string;
  readonly head: boolean;
  /** The client's Accept header. */
  readonly accept: string | undefined;
  /** Headers of every answer to this request. */
  readonly always?: Readonly<Record<string, string>> | undefined;
}

/** The answer to one request. Header names keep the case they are given in. */
export class Reply {
  readonly #response: ServerResponse;
  readonly #requestId: string;
  readonly #hostId: string;
  readonly #head: boolean;
  readonly #xmlType: string;
  readonly #always: Readonly<Record<string, string>> | undefined;
  /** 0 until the head is sent. */
  status = 0;
  bytesSent = 0;
  /** Delays the end of an error response while the rest of the request is drained. */
  endAfter: Promise<void> | undefined;

  constructor(options: ReplyOptions) {
    this.#response = options.response;
    this.#requestId = options.requestId;
    this.#hostId = options.hostId;
    this.#always = options.always;
    this.#head = options.head;
    this.#xmlType = options.accept === 'text/xml' ? 'text/xml' : 'application/xml';
  }

  get headSent(): boolean {
    return this.#response.headersSent;
  }

  empty(status: number, headers: Record<string, string> = {}): void {
    if (status !== 204 && status !== 304 && !this.#head) headers['Content-Length'] = '0';
    this.#writeHead(status, headers);
    this.#response.end();
  }

  xml(status: number, document: string, headers: Record<string, string> = {}): void {
    this.#write(status, document, this.#xmlType, headers);
  }

  json(status: number, value: unknown, headers: Record<string, string> = {}): void {
    this.#write(status, JSON.stringify(value), 'application/json', headers);
  }

  bytes(status: number, headers: Record<string, string>, body: Buffer): void {
    this.#writeHead(status, headers);
    this.bytesSent = body.length;
    this.#response.end(body);
  }

  /** Resolves when everything was sent; a failing source or a leaving client ends the connection. */
  async send(status: number, headers: Record<string, string>, body: SentBody): Promise<void> {
    this.#writeHead(status, headers);
    this.bytesSent = body.size;
    await body.sendTo(this.#response);
  }

  #write(status: number, text: string, type: string, headers: Record<string, string>): void {
    if (this.#head) {
      this.#writeHead(status, headers);
      this.#response.end();
      return;
    }
    const body = Buffer.from(text, 'utf8');
    headers['Content-Type'] = type;
    headers['Content-Length'] = String(body.length);
    this.bytesSent = body.length;
    this.#writeHead(status, headers);
    if (this.endAfter === undefined) {
      this.#response.end(body);
      return;
    }
    // Content-Length tells the client that the answer is complete before the connection ends.
    this.#response.write(body);
    void this.endAfter.then(() => this.#response.end());
  }

  #writeHead(status: number, headers: Record<string, string>): void {
    this.status = status;
    // A flat list is the form node:http writes without looking at each header twice.
    const list: string[] = [];
    for (const name in headers) list.push(name, headers[name] ?? '');
    for (const name in this.#always) list.push(name, this.#always[name] ?? '');
    list.push('Server', 'svc', 'x-amz-request-id', this.#requestId, 'x-amz-id-2', this.#hostId);
    this.#response.writeHead(status, list);
  }
}
