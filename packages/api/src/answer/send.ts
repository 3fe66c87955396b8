import type { IncomingMessage, ServerResponse } from 'node:http';
import { drained } from '@svc/http';
import { awaitsContinue } from '../request/expect-continue.ts';
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
  if (sent !== undefined) response.once('finish', sent);
  if (!request.complete && hasBody(request)) {
    const hasLength = 'content-length' in headers;
    return sendBeforeBody(request, response, { status, list, body, hasLength });
  }
  if (typeof body === 'string') {
    const size = Buffer.byteLength(body);
    if (!('content-length' in headers)) list.push('content-length', size);
    response.writeHead(status, list as string[]);
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
    response.end();
    return 0;
  }
  // What ends with its connection needs no marks of its length: each piece is written as it is.
  if (headers['connection'] === 'close') response.useChunkedEncodingByDefault = false;
  response.writeHead(status, list as string[]);
  return body.sendTo(response).then(() => Number(headers['content-length'] ?? 0));
}

interface EarlyAnswer {
  readonly status: number;
  readonly list: (string | number | readonly string[])[];
  readonly body: Answer['body'];
  readonly hasLength: boolean;
}

/**
 * Answers a request whose body is still arriving. The connection ends with the answer, but only after the client had
 * time to read it: closing with unread bytes would reset it.
 */
async function sendBeforeBody(
  request: IncomingMessage,
  response: ServerResponse,
  { status, list, body, hasLength }: EarlyAnswer,
): Promise<number> {
  list.push('connection', 'close');
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes !== undefined && !(bytes instanceof Uint8Array)) {
    response.writeHead(status, list as string[]);
    await bytes.sendTo(response);
    return 0;
  }
  if (!hasLength && status !== 204 && status !== 304) list.push('content-length', bytes?.byteLength ?? 0);
  response.writeHead(status, list as string[]);
  if (bytes === undefined || response.req.method === 'HEAD') response.flushHeaders();
  else response.write(bytes);
  if (!awaitsContinue(request)) await drained(request);
  response.end();
  return bytes?.byteLength ?? 0;
}
