import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { HeldMemory } from '@svc/http';
import { badRequest, IcebergError } from '../errors/iceberg-error.ts';
import { isObject, parseJson, type JsonObject } from '../json.ts';

/** The client went away before its request was whole. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

/** A body as text; empty when there is none. */
export async function readText(
  request: IncomingMessage,
  { maxBytes, memory }: { readonly maxBytes: number; readonly memory: HeldMemory },
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) {
        throw new IcebergError('PayloadTooLargeException', `the body is larger than ${maxBytes} bytes`);
      }
      if (!memory.hold(chunk.length)) {
        throw new IcebergError(
          'ServiceUnavailableException',
          'too many bodies are being read at once; try again',
        );
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof IcebergError) throw error;
    throw new ClientGoneError('the client went away', { cause: error });
  }
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes)) throw badRequest('the body is not UTF-8');
  return bytes.toString('utf8');
}

export function readObject(text: string): JsonObject {
  if (text === '') return {};
  let json;
  try {
    json = parseJson(text);
  } catch {
    // The parser quotes the body in its message.
    throw badRequest('the body is not valid JSON, or is nested too deeply');
  }
  if (!isObject(json)) throw badRequest('the body must be a JSON object');
  return json;
}
