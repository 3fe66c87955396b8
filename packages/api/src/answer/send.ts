import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Answer } from './answer.ts';

/** Writes an answer; returns the number of body bytes. Resolves when the answer is handed to the system. */
export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Answer,
): Promise<number> {
  const all: OutgoingHttpHeaders = { ...headers } as OutgoingHttpHeaders;
  // What is left of a refused upload is not worth reading: the connection ends with the answer.
  if (!request.complete) all['connection'] = 'close';
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const size = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
    all['content-length'] = size;
    response.writeHead(status, all);
    response.end(body);
    return size;
  }
  if (body === undefined) {
    if (status !== 204 && status !== 304) all['content-length'] ??= 0;
    response.writeHead(status, all);
    response.end();
    return 0;
  }
  response.writeHead(status, all);
  await pipeline(body, response);
  return Number(all['content-length'] ?? 0);
}
