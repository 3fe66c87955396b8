import type { IncomingMessage, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/** Remembers that the client sends its body only once it is told to. */
export function expectContinue(request: IncomingMessage): void {
  waiting.add(request);
}

/** Tells a client that waits to send its body; called when the body is wanted. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.expect !== undefined && waiting.delete(request)) response.writeContinue();
}

/** The client has not been told to send its body, and will not. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return request.headers.expect !== undefined && waiting.has(request);
}
