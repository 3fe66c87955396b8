import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { HeldMemory } from '@svc/http';
import { jsonCostProblem } from './json-cost.ts';
import { Pieces } from './pieces.ts';
import { bodyError, RequestError } from './request-error.ts';

/** For authenticated callers. */
export const maxJsonBytes = 32 * 1024 * 1024;
/** For open operations: a login or a setup has a handful of short fields. */
export const maxStrangersBytes = 64 * 1024;

export interface BodyLimits {
  readonly maxBytes: number;
  readonly memory: HeldMemory;
}

/** The decoded JSON body, or undefined when the request has none. */
export async function readJsonBody(
  request: IncomingMessage,
  required: boolean,
  limits: BodyLimits,
): Promise<unknown> {
  if (!hasBody(request)) {
    if (required) throw bodyError('value is required but missing');
    return undefined;
  }
  const contentType = request.headers['content-type'] ?? '';
  if (mediaTypeOf(contentType) !== 'application/json') {
    throw bodyError(`header Content-Type has unexpected value ${JSON.stringify(contentType)}`);
  }
  const bytes = await readBytes(request, limits);
  if (bytes.length === 0) {
    if (required) throw bodyError('value is required but missing');
    return undefined;
  }
  if (!isUtf8(bytes)) throw bodyError('not valid UTF-8');
  const tooCostly = jsonCostProblem(bytes);
  if (tooCostly !== undefined) throw bodyError(tooCostly);
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    // The parser quotes the body in its message, which may hold a secret.
    throw bodyError('not valid JSON');
  }
}

export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

export function mediaTypeOf(contentType: string): string {
  const semicolon = contentType.indexOf(';');
  return (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}

/** Collects a body of at most `maxBytes`. What arrives counts against `memory` until the request ends. */
export function readBytes(request: IncomingMessage, { maxBytes, memory }: BodyLimits): Promise<Buffer> {
  const tooLarge = () => new RequestError(413, `request body is larger than ${maxBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    if (request.destroyed) throw clientGone();
    if (request.complete) {
      const bytes = arrivedBytes(request);
      if (bytes.length > maxBytes) throw tooLarge();
      if (!memory.hold(bytes.length)) throw tooManyBodies();
      resolve(bytes);
      return;
    }
    const pieces = new Pieces();
    let size = 0;
    const refuse = (error: Error): void => {
      pieces.clear();
      size = Infinity;
      request.pause();
      reject(error);
    };
    // The listeners stay until the request ends: removing them costs more than keeping them.
    request.on('data', (chunk: Buffer) => {
      if (size === Infinity) return;
      size += chunk.length;
      if (size > maxBytes) {
        refuse(tooLarge());
        return;
      }
      if (!memory.hold(chunk.length)) {
        refuse(tooManyBodies());
        return;
      }
      pieces.add(chunk);
    });
    request.on('end', () => resolve(pieces.take()));
    request.on('error', reject);
    request.on('close', () => {
      if (!request.readableEnded) reject(clientGone());
    });
  });
}

function clientGone(): RequestError {
  return new RequestError(499, 'the client went away');
}

/** A small body usually arrives with its headers: then it can be read without waiting for events. */
function arrivedBytes(request: IncomingMessage): Buffer {
  const chunks: Buffer[] = [];
  for (let chunk; (chunk = request.read() as Buffer | null) !== null;) chunks.push(chunk);
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

function tooManyBodies(): RequestError {
  return new RequestError(503, 'too many request bodies are being read at once; try again later', {
    'retry-after': '1',
  });
}
