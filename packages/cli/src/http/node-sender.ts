import { Agent as HttpAgent, request as requestPlain } from 'node:http';
import type { Readable } from 'node:stream';
import { ConnectionError, type Answer, type Sender, type SendRequest } from '@svc/client';
import { CliError } from '../errors.ts';
import type { Log } from '../log.ts';
import { readText, streamBody, type AnswerBody } from './answer-body.ts';
import { LeanClient } from './lean-client.ts';

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
export function createNodeSender(log: Log): Sender<Payload, AnswerBody> {
  const plain: Connections = { open: requestPlain, agent: new HttpAgent(keptOpen) };
  let tls: Connections | undefined;
  // A proxy of the environment is an affair of the platform's client.
  const lean = process.env['NODE_USE_ENV_PROXY'] === undefined ? new LeanClient() : undefined;

  const sendLean = async (
    request: SendRequest<Payload>,
    url: URL,
  ): Promise<Answer<AnswerBody> | undefined> => {
    const { method, body, signal, onBytes } = request;
    if (lean === undefined || !request.idempotent || (typeof body === 'object' && 'open' in body))
      return undefined;
    const sent = { method, url, headers: headersOf(request), body };
    if (!lean.takes(sent)) return undefined;
    try {
      const answer = await lean.send(sent, signal);
      if (answer === undefined) return undefined;
      if (body !== undefined) onBytes?.(body.length);
      return answerOf(answer.status, (name) => answer.headers.get(name), answer.body);
    } catch (error) {
      throw signal?.aborted === true
        ? (signal.reason as Error)
        : new ConnectionError(reasonOf(error), { sent: true, cause: error });
    }
  };

  return async (request) => {
    const url = urlOf(request.url);
    const started = performance.now();
    try {
      const answer = (await sendLean(request, url)) ?? (await sendWhole(request, url));
      const ms = Math.round(performance.now() - started);
      log.debug('request', { method: request.method, url: shown(url), status: answer.status, ms });
      return answer;
    } catch (error) {
      log.warn('request failed', { method: request.method, url: shown(url), attempt: request.attempt });
      throw error;
    }
  };

  function sendWhole(request: SendRequest<Payload>, url: URL): Promise<Answer<AnswerBody>> {
    const { open, agent: kept } = url.protocol === 'https:' ? (tls ??= secureConnections()) : plain;
    // If the server closed a reused connection just now, we could not tell whether a commit happened.
    const agent = request.idempotent ? kept : false;
    const { method, signal } = request;
    return new Promise((resolve, reject) => {
      let sent = false;
      const outgoing = open(url, { method, headers: headersOf(request), agent, signal });
      const fail = (error: unknown): void => {
        if (signal?.aborted === true) reject(signal.reason as Error);
        else reject(new ConnectionError(reasonOf(error), { sent, cause: error }));
      };
      outgoing.on('finish', () => {
        sent = true;
      });
      outgoing.on('error', fail);
      outgoing.on('response', (stream) => {
        const status = stream.statusCode ?? 0;
        // An answer before the end of the body is a refusal: the rest need not be sent.
        if (!outgoing.writableFinished) stream.once('end', () => outgoing.destroy());
        const header = (name: string): string | undefined => {
          const value = stream.headers[name];
          return typeof value === 'object' ? value.join(', ') : value;
        };
        resolve(answerOf(status, header, streamBody(stream)));
      });
      sendBody(request, outgoing, fail);
    });
  }
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

function answerOf(
  status: number,
  header: (name: string) => string | undefined,
  body: AnswerBody,
): Answer<AnswerBody> {
  return { status, header, body, text: () => readText(body), discard: () => body.discard() };
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
