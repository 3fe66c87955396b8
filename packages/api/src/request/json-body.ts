import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { bodyError, RequestError } from './request-error.ts';

export const maxJsonBytes = 32 * 1024 * 1024;

/** The decoded JSON body, or undefined when the request has none. */
export async function readJsonBody(request: IncomingMessage, required: boolean): Promise<unknown> {
  if (!hasBody(request)) {
    if (required) throw bodyError('value is required but missing');
    return undefined;
  }
  const contentType = request.headers['content-type'] ?? '';
  if (mediaTypeOf(contentType) !== 'application/json') {
    throw bodyError(`header Content-Type has unexpected value ${JSON.stringify(contentType)}`);
  }
  const bytes = await readBytes(request, maxJsonBytes);
  if (bytes.length === 0) {
    if (required) throw bodyError('value is required but missing');
    return undefined;
  }
  if (!isUtf8(bytes)) throw bodyError('not valid UTF-8');
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

/** Collects a body of at most `limit` bytes. */
export function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () => new RequestError(413, `request body is larger than ${limit} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge());
  if (request.complete && !request.destroyed) {
    const bytes = arrivedBytes(request);
    return bytes.length > limit ? Promise.reject(tooLarge()) : Promise.resolve(bytes);
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // The listeners stay: they end with the request, and taking them off costs more than they do.
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      request.pause();
      reject(tooLarge());
    });
    request.on('end', () => {
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    request.on('error', reject);
    request.on('close', () => {
      if (!request.readableEnded) reject(new RequestError(499, 'the client went away'));
    });
  });
}

/** A small body mostly arrives with its headers: what is here already needs no events. */
function arrivedBytes(request: IncomingMessage): Buffer {
  const chunks: Buffer[] = [];
  for (let chunk; (chunk = request.read() as Buffer | null) !== null;) chunks.push(chunk);
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}
