import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream';
import { S3Error } from './errors/s3-error.ts';
import type { GatewayDomains } from './routing/domains.ts';

const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

export interface Forwarding {
  readonly target: URL;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly domains: GatewayDomains;
  /** Sends `100 Continue` when the client waits for it. */
  readonly beforeRead: () => void;
}

/** Passes a request for an unknown repository on, untouched: the signature covers path, headers and body. */
export function forward({ target, message, response, domains, beforeRead }: Forwarding): Promise<number> {
  const secure = target.protocol === 'https:';
  const outgoing = (secure ? httpsRequest : httpRequest)({
    protocol: target.protocol,
    hostname: target.hostname,
    port: target.port === '' ? undefined : target.port,
    method: message.method,
    path: `${target.pathname.replace(/\/$/, '')}${message.url ?? '/'}`,
    headers: forwardedHeaders(message, target, domains),
    setHost: false,
  });
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      reject(new S3Error('InternalError', 'The fallback server could not be reached.', { cause: error }));
    };
    outgoing.on('error', fail);
    outgoing.on('response', (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, passedHeaders(incoming.rawHeaders));
      pipeline(incoming, response, (error) => {
        if (error === null || error === undefined) resolve(incoming.statusCode ?? 502);
        else fail(error);
      });
    });
    beforeRead();
    pipeline(message, outgoing, (error) => {
      if (error !== null && error !== undefined) fail(error);
    });
  });
}

function forwardedHeaders(message: IncomingMessage, target: URL, domains: GatewayDomains): string[] {
  const host = message.headers.host ?? '';
  const domain = domains.domainIn(host);
  const headers = passedHeaders(message.rawHeaders).filter(
    (_, index, all) => !['host', 'x-forwarded-for'].includes((all[index - (index % 2)] ?? '').toLowerCase()),
  );
  const chain = message.headers['x-forwarded-for'];
  const peer = message.socket.remoteAddress ?? '';
  headers.push('Host', domain === undefined ? host : host.replace(domain, target.host));
  headers.push('X-Forwarded-For', chain === undefined ? peer : `${String(chain)}, ${peer}`);
  if (message.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
  return headers;
}

/** Raw header pairs without those that speak of one connection only. */
function passedHeaders(raw: readonly string[]): string[] {
  const passed: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? '';
    if (!hopByHop.has(name.toLowerCase())) passed.push(name, raw[i + 1] ?? '');
  }
  return passed;
}
