import type { IncomingMessage } from 'node:http';
import { queryOf, type Query } from './query.ts';

/**
 * A request as it came over the wire. Header values and the raw target are one byte per character (latin1), so
 * that signatures can be computed from exactly what was sent.
 */
export interface S3Request {
  readonly method: string;
  readonly rawPath: string;
  readonly rawQuery: string;
  readonly query: Query;
  /** By lower-case name; the trimmed values of a repeated header are joined with `,`. */
  readonly headers: ReadonlyMap<string, string>;
  readonly remoteAddress: string;
  readonly encrypted: boolean;
}

export function readS3Request(message: IncomingMessage): S3Request {
  const { rawPath, rawQuery } = splitTarget(message.url ?? '/');
  return {
    method: message.method ?? 'GET',
    rawPath,
    rawQuery,
    query: queryOf(rawQuery),
    headers: collectHeaders(message.rawHeaders),
    remoteAddress: message.socket.remoteAddress ?? '',
    encrypted: 'encrypted' in message.socket && message.socket.encrypted === true,
  };
}

/** Splits a raw request target; the absolute form (`GET http://host/path`) loses its authority. */
export function splitTarget(target: string): { rawPath: string; rawQuery: string } {
  let rest = target;
  if (!rest.startsWith('/')) {
    const authority = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]*/.exec(rest);
    if (authority !== null) rest = rest.slice(authority[0].length);
  }
  const question = rest.indexOf('?');
  if (question < 0) return { rawPath: rest, rawQuery: '' };
  return { rawPath: rest.slice(0, question), rawQuery: rest.slice(question + 1) };
}

export function collectHeaders(rawHeaders: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase();
    const value = (rawHeaders[i + 1] ?? '').trim();
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier},${value}`);
  }
  return headers;
}

/** A header's value, with an empty one counted as absent. */
export function headerText(request: S3Request, name: string): string | undefined {
  const value = request.headers.get(name);
  return value === '' ? undefined : value;
}
