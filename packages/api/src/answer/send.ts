import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { hasBody } from '../request/json-body.ts';
import type { Answer } from './answer.ts';

/** Writes an answer; returns the number of body bytes. Resolves when the answer is handed to the system. */
export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Answer,
  requestId?: string,
): Promise<number> {
  // A flat list is the form node:http writes without looking at each header twice.
  const list: (string | number | readonly string[])[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) list.push(name, value);
  }
  if (requestId !== undefined) list.push('x-request-id', requestId);
  // What is left of a refused upload is not worth reading: the connection ends with the answer.
  if (!request.complete && hasBody(request)) list.push('connection', 'close');
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const size = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
    if (!('content-length' in headers)) list.push('content-length', size);
    response.writeHead(status, list as string[]);
    response.end(body);
    return size;
  }
  if (body === undefined) {
    if (status !== 204 && status !== 304 && !('content-length' in headers)) list.push('content-length', 0);
    response.writeHead(status, list as string[]);
    response.end();
    return 0;
  }
  response.writeHead(status, list as string[]);
  await pipeline(body, response);
  return Number(headers['content-length'] ?? 0);
}
