import { Agent as HttpAgent, request as requestPlain } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { ConnectionError, type Answer, type Sender, type SendRequest } from '@svc/client';
import { CliError } from '../errors.ts';
import type { Log } from '../log.ts';
import { readAll } from '../input.ts';

/** A body that can be read again for another try. */
export type Payload = Uint8Array | { readonly length: number; readonly open: () => Readable };

interface Connections {
  readonly open: typeof requestPlain;
  readonly agent: HttpAgent;
}

const keptOpen = { keepAlive: true, maxFreeSockets: 512 };

/**
 * Sends over connections that stay open. The platform's fetch would do, but loading it costs every command more
 * processor time than all of its own work.
 */
export function createNodeSender(log: Log): Sender<Payload, IncomingMessage> {
  const plain: Connections = { open: requestPlain, agent: new HttpAgent(keptOpen) };
  let tls: Connections | undefined;

  return (request) => {
    const url = urlOf(request.url);
    const started = performance.now();
    const { open, agent: kept } = url.protocol === 'https:' ? (tls ??= secureConnections()) : plain;
    // If the server closed a reused connection just now, we could not tell whether a commit happened.
    const agent = request.idempotent ? kept : false;
    const { method, signal } = request;
    return new Promise((resolve, reject) => {
      let sent = false;
      const outgoing = open(url, { method, headers: headersOf(request), agent, signal });
      const fail = (error: unknown): void => {
        log.warn('request failed', { method, url: shown(url), attempt: request.attempt });
        if (signal?.aborted === true) reject(signal.reason as Error);
        else reject(new ConnectionError(reasonOf(error), { sent, cause: error }));
      };
      outgoing.on('finish', () => {
        sent = true;
      });
      outgoing.on('error', fail);
      outgoing.on('response', (stream) => {
        const status = stream.statusCode ?? 0;
        const ms = Math.round(performance.now() - started);
        log.debug('request', { method, url: shown(url), status, ms });
        // An answer before the end of the body is a refusal: the rest need not be sent.
        if (!outgoing.writableFinished) stream.once('end', () => outgoing.destroy());
        resolve(answerOf(status, stream));
      });
      sendBody(request, outgoing, fail);
    });
  };
}

/** Loaded for the first secure address: TLS costs a process more than everything else it loads. */
function secureConnections(): Connections {
  const { Agent, request } = process.getBuiltinModule('node:https');
  return { open: request, agent: new Agent(keptOpen) };
}

function sendBody(
  { body, onBytes }: SendRequest<Payload>,
  outgoing: NodeJS.WritableStream & { destroy(): void },
  fail: (error: unknown) => void,
): void {
  if (body === undefined) {
    outgoing.end();
    return;
  }
  if (typeof body === 'string' || body instanceof Uint8Array) {
    onBytes?.(body.length);
    outgoing.end(body);
    return;
  }
  const source = body.open();
  source.on('error', (error) => {
    fail(error);
    outgoing.destroy();
  });
  if (onBytes !== undefined) source.on('data', (chunk: Buffer) => onBytes(chunk.length));
  outgoing.on('close', () => source.destroy());
  source.pipe(outgoing);
}

function headersOf({ method, headers, body }: SendRequest<Payload>): Record<string, string> {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body?.length;
  if (length !== undefined) return { ...headers, 'content-length': String(length) };
  return method === 'GET' || method === 'HEAD' ? { ...headers } : { ...headers, 'content-length': '0' };
}

function answerOf(status: number, stream: IncomingMessage): Answer<IncomingMessage> {
  return {
    status,
    header(name) {
      const value = stream.headers[name];
      return typeof value === 'object' ? value.join(', ') : value;
    },
    body: stream,
    text: async () => (await readAll(stream)).toString('utf8'),
    discard: () => void stream.resume(),
  };
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new CliError(`"${text}" is not an http or https URL`);
  }
  return url;
}

/** Leaves out the query: that of a pre-signed URL is a secret. */
function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

function reasonOf(error: unknown): string {
  // A name with several addresses fails once per address.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
