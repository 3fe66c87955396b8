import { ConnectionError } from './errors.ts';
import type { Answer, Sender, SendRequest } from './sender.ts';

export type FetchPayload = Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;
export type FetchStream = ReadableStream<Uint8Array> | null;

/** Sends over the platform's `fetch`, which cannot tell how much of a body was sent. */
export const sendByFetch: Sender<FetchPayload, FetchStream> = async (request) => {
  const { method, url, headers, body, signal } = request;
  // Made outside the attempt: a header that cannot be sent is not a broken connection.
  const prepared = new Request(url, {
    method,
    headers,
    ...(body !== undefined && { body }),
    ...(body instanceof ReadableStream && { duplex: 'half' }),
    ...(signal !== undefined && { signal }),
  });
  try {
    return answerOfFetch(await fetch(prepared));
  } catch (error) {
    throw unanswered(request, error);
  }
};

/** What `fetch` answered. */
export function answerOfFetch(response: Response): Answer<FetchStream> {
  let text: Promise<string> | undefined;
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    body: response.body,
    text: () => (text ??= response.text()),
    discard: () => void response.body?.cancel().catch(ignoreBroken),
  };
}

/** A body nobody wants may break. */
function ignoreBroken(): void {}

function unanswered(request: SendRequest<FetchPayload>, error: unknown): unknown {
  if (request.signal?.aborted === true) return error;
  const { message, cause } = error as { message?: unknown; cause?: unknown };
  const reason = cause instanceof Error ? cause.message : String(message);
  return new ConnectionError(reason, { sent: true, cause: cause ?? error });
}
