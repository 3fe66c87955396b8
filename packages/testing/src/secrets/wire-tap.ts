// Preloaded into the servers that tests start (`node --import`): whoever the client is and whatever language it is
// written in, the secrets that it sends or is given are noted here.
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SecretBook } from './secret-book.ts';
import { noteJson, noteRequest } from './secrets-of.ts';

/** Only these hand secrets out or take them in a body. */
const secretBodies = /\/(auth|setup|setup_lakefs|sts|iceberg)(\/|\?|$)/;

const folder = new URL(import.meta.url).searchParams.get('folder');
if (folder === null) throw new Error('the folder of the run must be in the query of this module');
const book = new SecretBook(folder);
const note = book.note.bind(book);

subscribe('http.server.request.start', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  const url = request.url ?? '';
  noteRequest(note, url, request.headers);
  if (!secretBodies.test(url)) return;
  const what = `${request.method} ${url.split('?')[0]}`;
  tap(request, 'push', `the body of ${what}`);
  tap(response, 'write', `the answer of ${what}`);
  tap(response, 'end', `the answer of ${what}`);
});

function tap<Name extends string>(
  stream: Record<Name, unknown> | IncomingMessage | ServerResponse,
  name: Name,
  what: string,
): void {
  const methods = stream as Record<Name, (...args: unknown[]) => unknown>;
  const original = methods[name].bind(stream);
  methods[name] = (...args: unknown[]): unknown => {
    const [chunk] = args;
    if (typeof chunk === 'string') noteJson(note, what, chunk);
    else if (chunk instanceof Uint8Array) noteJson(note, what, Buffer.from(chunk).toString());
    return original(...args);
  };
}
