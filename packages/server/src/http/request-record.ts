import type { IncomingMessage, ServerResponse } from 'node:http';

/** How much of a body the trace level shows. */
const tracedBytes = 750;

/** The beginnings of both bodies, for the trace level. */
export interface RequestRecord {
  readonly requestBody: Buffer[];
  readonly responseBody: Buffer[];
}

const recordKey = Symbol('request record');

interface Recorded {
  [recordKey]?: RequestRecord;
}

export function recordOf(request: IncomingMessage): RequestRecord | undefined {
  return (request as Recorded)[recordKey];
}

/** Keeps the first bytes of both bodies. */
export function attachRecord(request: IncomingMessage, response: ServerResponse): void {
  const record: RequestRecord = { requestBody: [], responseBody: [] };
  (request as Recorded)[recordKey] = record;
  traceBodies(request, response, record);
}

function traceBodies(request: IncomingMessage, response: ServerResponse, record: RequestRecord): void {
  const push = request.push.bind(request);
  request.push = (chunk: unknown, encoding?: BufferEncoding) => {
    keep(record.requestBody, chunk);
    return push(chunk, encoding);
  };
  const write = response.write.bind(response) as (...args: unknown[]) => boolean;
  response.write = (...args: unknown[]) => {
    keep(record.responseBody, args[0]);
    return write(...args);
  };
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  response.end = (...args: unknown[]) => {
    keep(record.responseBody, args[0]);
    return end(...args);
  };
}

function keep(kept: Buffer[], chunk: unknown): void {
  const room = tracedBytes - kept.reduce((sum, part) => sum + part.length, 0);
  if (room <= 0) return;
  if (typeof chunk === 'string') kept.push(Buffer.from(chunk).subarray(0, room));
  else if (chunk instanceof Uint8Array) kept.push(Buffer.from(chunk.subarray(0, room)));
}

export function bodyText(parts: readonly Buffer[]): string {
  return Buffer.concat(parts).toString('utf8');
}
