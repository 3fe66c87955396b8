/** What the connection does with a request. */
export type Framing =
  /** Exactly what the head announces. */
  | 'right'
  /** Fewer bytes than announced, then the end of the connection. */
  | 'cut'
  /** Something a strict server refuses or closes on: the connection is not used again. */
  | 'wild';

/** One request of the run, with what is known about it beforehand. */
export interface FuzzRequest {
  readonly surface: 'api' | 's3' | 'pages';
  /** The operation's id in the contract, or its name in the gateway. */
  readonly operation: string;
  readonly method: string;
  /** Path and query as they go on the wire. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly framing: Framing;
  /** Whether the caller's proof of identity is as the caller would have made it. */
  readonly proof: 'right' | 'broken';
}

/** The bytes of a request. Header values are text of one byte a character, as HTTP has them. */
export function bytesOf({ method, target, headers, body }: FuzzRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

const secretHeader = /^(authorization|cookie)$/i;

/** For people who look for the cause: without the proof of identity, and cut where it is long. */
export function textOf(request: FuzzRequest): string {
  const headers = request.headers
    .map(([name, value]) => `${name}: ${secretHeader.test(name) ? '…' : shortened(value)}`)
    .join(' | ');
  const target = request.target.replaceAll(/(Signature=)[^&]*/g, '$1…');
  const body =
    request.body.length === 0 ? '' : ` | body ${JSON.stringify(shortened(request.body.toString()))}`;
  return `${request.operation} (${request.framing}): ${request.method} ${shortened(target)} | ${headers}${body}`;
}

function shortened(text: string): string {
  return text.length > 600 ? `${text.slice(0, 600)}… (${text.length})` : text;
}
