/** How an answer begins. */
export interface AnswerHead {
  readonly status: number;
  /** Of the body that follows. Absent when it comes in chunks. */
  readonly size: number | undefined;
  readonly keepsAlive: boolean;
  readonly headers: ReadonlyMap<string, string>;
}

/** Undefined for anything but a final answer of HTTP/1.1 whose body has a known size or comes in chunks. */
export function readHead(text: string, method: string): AnswerHead | undefined {
  const lines = text.split('\r\n');
  const status = Number(/^HTTP\/1\.1 ([2-5]\d\d)(?: |$)/.exec(lines[0] ?? '')?.[1]);
  if (Number.isNaN(status)) return undefined;
  const headers = new Map<string, string>();
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(':');
    if (colon <= 0) return undefined;
    const name = line.slice(0, colon).toLowerCase();
    if (headers.has(name) && name === 'content-length') return undefined;
    headers.set(name, line.slice(colon + 1).trim());
  }
  const keepsAlive = headers.get('connection')?.toLowerCase() !== 'close';
  if (method === 'HEAD' || status === 204) return { status, size: 0, keepsAlive, headers };
  const length = headers.get('content-length');
  const encoding = headers.get('transfer-encoding');
  if (length === undefined && encoding?.toLowerCase() === 'chunked') {
    return { status, size: undefined, keepsAlive, headers };
  }
  const size = Number(length);
  const isKnown = length !== undefined && /^\d{1,16}$/.test(length) && Number.isSafeInteger(size);
  return isKnown && encoding === undefined ? { status, size, keepsAlive, headers } : undefined;
}

/** The content of a body in chunks; undefined until its end has come. */
export function readChunked(bytes: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (!(size >= 0) || bytes.length < lineEnd + 2 + size + 2) return undefined;
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
