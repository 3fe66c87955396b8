import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { duplexPair, type Duplex } from 'node:stream';
import { atDepth, type ApiAnswer, type ApiRequest, type CallApi } from '@svc/actions';
import type { ApiListener } from '@svc/api';
import { AuthError, type Auth, type Identity } from '@svc/auth';
import { version } from '../version.ts';

const basePath = '/api/v1';
const peer = '[internal (lua)]';
const headerNames = { user: 'x-svc-internal-user', depth: 'x-svc-internal-depth' } as const;

/** The API for calls that hooks make: as their user, through authorization and audit, but without a network. */
export function createInternalApi(open: (auth: Auth) => Promise<ApiListener>, auth: Auth): CallApi {
  let opened: Promise<ReturnType<typeof createServer>> | undefined;
  const server = async () => {
    const api = await open(hookAuth(auth));
    return createServer((request: IncomingMessage, response: ServerResponse) => {
      atDepth(Number(request.headers[headerNames.depth]), () => api(request, response));
    });
  };
  return async (request) => {
    opened ??= server();
    const [ours, theirs] = duplexPair();
    Object.assign(theirs, { remoteAddress: peer });
    (await opened).emit('connection', theirs);
    return send(request, ours);
  };
}

/** Nobody but this process can connect, so the caller is whom the connection names. */
function hookAuth(auth: Auth): Auth {
  return {
    ...auth,
    authenticateAtOnce: () => undefined,
    async authenticate(request): Promise<Identity | undefined> {
      const name = request.headers[headerNames.user];
      // Scripts may bring credentials of their own.
      if (typeof name !== 'string') return auth.authenticate(request);
      try {
        return { user: await auth.users.get(decodeURIComponent(name)), method: 'bearer' };
      } catch (error) {
        if (error instanceof AuthError && error.kind === 'not_found') return undefined;
        throw error;
      }
    },
    clientOf: () => ({ ip: peer, secure: true }),
  };
}

function callerOf({ credentials, userId }: ApiRequest): Record<string, string> {
  if (credentials === undefined) return { [headerNames.user]: encodeURIComponent(userId) };
  const { accessKeyId, secretAccessKey } = credentials;
  const pair = Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64');
  return { authorization: `Basic ${pair}` };
}

function send(request: ApiRequest, connection: Duplex): Promise<ApiAnswer> {
  const query = new URLSearchParams(request.query).toString();
  const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer>();
  const sent = httpRequest({
    method: request.method,
    path: `${basePath}${request.path}${query === '' ? '' : `?${query}`}`,
    headers: {
      host: 'internal',
      connection: 'close',
      'user-agent': `svc-lua/${version}`,
      ...callerOf(request),
      [headerNames.depth]: String(request.depth),
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    createConnection: () => connection,
    signal: request.signal,
  });
  sent.on('error', reject);
  sent.on('response', (response: IncomingMessage) => {
    collect(response, request.maxAnswerBytes).then(
      (body) => resolve({ status: response.statusCode ?? 0, body }),
      (error: unknown) => {
        reject(error);
        sent.destroy();
      },
    );
  });
  sent.end(request.body);
  return promise;
}

async function collect(response: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new Error(`the answer is larger than ${limit} bytes (actions.lua.memory_bytes)`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
