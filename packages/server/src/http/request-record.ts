import type { IncomingMessage, ServerResponse } from 'node:http';

/** How much of a body the trace level shows. */
const tracedBytes = 750;

/** What the listener notes about a request for whoever writes its end. */
export interface RequestRecord {
  readonly startedAt: number;
  /** When the head of the answer left, for requests whose time to the first byte is of interest. */
  firstByteAt: number | undefined;
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

interface RecordOptions {
  /** Also keep the first bytes of both bodies. */
  readonly trace: boolean;
}

export function attachRecord(
  request: IncomingMessage,
  response: ServerResponse,
  options: RecordOptions,
): RequestRecord {
  const record: RequestRecord = {
    startedAt: performance.now(),
    firstByteAt: undefined,
    requestBody: [],
    responseBody: [],
  };
  (request as Recorded)[recordKey] = record;
  if (request.method === 'GET' && request.url?.includes('/objects') === true) noteFirstByte(response, record);
  if (options.trace) traceBodies(request, response, record);
  return record;
}

function noteFirstByte(response: ServerResponse, record: RequestRecord): void {
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse;
  response.writeHead = (...args: unknown[]) => {
    record.firstByteAt ??= performance.now();
    return writeHead(...args);
  };
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
