/** One request, sent once. `Payload` is what a sender takes as a body beside text. */
export interface SendRequest<Payload> {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Payload | undefined;
  /** False for a request whose fate must be known: it does not go over a connection the server may be closing. */
  readonly idempotent: boolean;
  /** 1 for the first try. */
  readonly attempt: number;
  readonly signal?: AbortSignal | undefined;
  /** Told how many more bytes of the body were sent. */
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** What came back, whatever its status. Either `body` or `text` is read to its end, or `discard` is called. */
export interface Answer<Stream> {
  readonly status: number;
  /** A header by its name in lower case. */
  header(name: string): string | undefined;
  readonly body: Stream;
  text(): Promise<string>;
  discard(): void;
}

/** Sends a request as it is; throws `ConnectionError` when no answer comes. */
export type Sender<Payload, Stream> = (request: SendRequest<Payload>) => Promise<Answer<Stream>>;
