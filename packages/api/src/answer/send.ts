import type { IncomingMessage, ServerResponse } from 'node:http';
import { drained } from '../request/drain.ts';
import { hasBody } from '../request/json-body.ts';
import type { Answer } from './answer.ts';

/**
 * Writes an answer; gives the number of body bytes, at once unless the body is a stream. Resolves when the answer is
 * handed to the system.
 */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body, sent }: Answer,
  requestId?: string,
): number | Promise<number> {
  // A flat list is the form node:http writes without looking at each header twice.
  const list: (string | number | readonly string[])[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) list.push(name, value);
  }
  if (requestId !== undefined) list.push('x-request-id', requestId);
  // The connection ends with the answer to an upload that was refused half-way.
  const isRefusedUpload = !request.complete && hasBody(request);
  if (isRefusedUpload) list.push('connection', 'close');
  if (sent !== undefined) response.once('finish', sent);
  if (typeof body === 'string') {
    const size = Buffer.byteLength(body);
    if (!('content-length' in headers)) list.push('content-length', size);
    response.writeHead(status, list as string[]);
    if (isRefusedUpload) return endDrained(request, response, body).then(() => size);
    // Plain ASCII is the same in both encodings, and this one is written without looking at each character.
    response.end(body, size === body.length ? 'latin1' : 'utf8');
    return size;
  }
  if (body instanceof Uint8Array) {
    if (!('content-length' in headers)) list.push('content-length', body.byteLength);
    response.writeHead(status, list as string[]);
    response.end(body);
    return body.byteLength;
  }
  if (body === undefined) {
    if (status !== 204 && status !== 304 && !('content-length' in headers)) list.push('content-length', 0);
    response.writeHead(status, list as string[]);
    if (isRefusedUpload) return endDrained(request, response, '').then(() => 0);
    response.end();
    return 0;
  }
  response.writeHead(status, list as string[]);
  return body.sendTo(response).then(() => Number(headers['content-length'] ?? 0));
}

/** Sends the whole answer at once, and ends the connection when the rest of the body was read away. */
async function endDrained(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
  if (body === '') response.flushHeaders();
  else response.write(body);
  await drained(request);
  response.end();
}
