import type { IncomingMessage, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/** Notes that the client sends its body only when told to. */
export function expectContinue(request: IncomingMessage): void {
  waiting.add(request);
}

/** Tells a waiting client to send its body. Call it when the body is needed. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.expect !== undefined && waiting.delete(request)) response.writeContinue();
}

/** The client was never told to send its body, and never will be. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return request.headers.expect !== undefined && waiting.has(request);
}
