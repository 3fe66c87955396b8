import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { authenticationFailed, type Auth, type ClientOrigin, type Identity } from '@svc/auth';
import type { Engine } from '@svc/engine';
import { drained, HeldMemory, type BodyMemory } from '@svc/http';
import type { Answer, Call, Services } from './call.ts';
import { IcebergError } from './errors/iceberg-error.ts';
import { toIcebergError } from './errors/to-iceberg-error.ts';
import { writeJson } from './json.ts';
import { issueToken } from './oauth.ts';
import { ClientGoneError, readObject, readText } from './request/read-body.ts';
import { routeOf, type Route } from './routes.ts';

/** One finished request, for the access log and the metrics. Holds no secrets. */
export interface FinishedRequest {
  readonly requestId: string;
  readonly operationId: string;
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly durationMs: number;
  readonly firstByteMs: number | undefined;
  readonly sentBytes: number;
  readonly username: string | undefined;
  readonly authMethod: string | undefined;
  readonly accessKeyId: string | undefined;
  readonly clientIp: string;
  readonly params: Readonly<Record<string, string>>;
  readonly denied: string | undefined;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface IcebergObserver {
  started?(operationId: string): void;
  finished?(request: FinishedRequest): void;
  /** An internal failure. The caller sees only the request id. */
  failed?(error: unknown, request: { readonly requestId: string; readonly operationId: string }): void;
}

export interface IcebergOptions {
  readonly engine: Engine;
  readonly auth: Auth;
  /** `gateways.s3.region`. */
  readonly region: string;
  readonly observer?: IcebergObserver | undefined;
  /** Memory for bodies being collected. Without it there is no limit. */
  readonly bodyMemory?: { readonly callers: BodyMemory; readonly strangers: BodyMemory } | undefined;
  /** Milliseconds since 1970. */
  readonly clock?: (() => number) | undefined;
}

/** Answers requests below `/iceberg/`. Never rejects. */
export type IcebergListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const basePath = '/iceberg/v1';
const tokenPath = '/oauth/tokens';
/** A commit of a table with thousands of columns has a few megabytes. */
const maxBytes = 16 * 1024 * 1024;
const maxTokenBytes = 64 * 1024;

interface State {
  readonly requestId: string;
  readonly client: ClientOrigin;
  readonly memory: HeldMemory;
  identity: Identity | undefined;
  operationId: string;
  params: Record<string, string>;
}

/** The Iceberg REST catalog over the engine. */
export function createIceberg(options: IcebergOptions): IcebergListener {
  const { engine, auth, region, observer } = options;
  const services: Services = { engine, auth, region, now: options.clock ?? Date.now };
  return async (request, response) => {
    const started = performance.now();
    const url = request.url ?? '';
    const path = url.slice(0, /[?#]|$/.exec(url)?.index);
    const isToken = path === basePath + tokenPath;
    const state: State = {
      requestId: randomUUID(),
      client: originOf(auth, request),
      memory: new HeldMemory(isToken ? options.bodyMemory?.strangers : options.bodyMemory?.callers),
      identity: undefined,
      operationId: isToken ? 'icebergGetToken' : 'icebergUnknown',
      params: {},
    };
    auth.enterRequest?.(state.requestId);
    let failure: IcebergError | undefined;
    let answer: Answer;
    let route: Route | undefined;
    try {
      route =
        isToken || !path.startsWith(basePath)
          ? undefined
          : routeOf(request.method ?? '', path.slice(basePath.length));
    } catch (error) {
      failure = toIcebergError(error);
    }
    state.operationId = route?.operation.id ?? state.operationId;
    observer?.started?.(state.operationId);
    try {
      if (failure !== undefined) throw failure;
      answer = isToken
        ? await token(services, request, state)
        : await run(services, request, response, state, route);
    } catch (error) {
      if (error instanceof ClientGoneError) {
        answer = { status: 499 };
      } else {
        failure = toIcebergError(error);
        const { status, type, message } = failure;
        if (status === 500) observer?.failed?.(failure.cause ?? failure, state);
        const told = type === 'InternalServerError' ? `${message}, request id ${state.requestId}` : message;
        answer = { status, body: { error: { message: told, type, code: status } }, headers: waitOf(failure) };
      }
    }
    state.memory.release();
    const sentBytes = await send(request, response, answer, state.requestId);
    observer?.finished?.({
      requestId: state.requestId,
      operationId: state.operationId,
      method: request.method ?? '',
      url,
      status: response.writableEnded ? answer.status : 499,
      durationMs: performance.now() - started,
      firstByteMs: undefined,
      sentBytes,
      username: state.identity?.user.username,
      authMethod: state.identity?.method,
      accessKeyId: state.identity?.accessKeyId,
      clientIp: state.client.ip,
      params: state.params,
      denied: failure?.type === 'ForbiddenException' ? failure.message : undefined,
      request,
      response,
    });
  };
}

function waitOf({ retryAfterSeconds }: IcebergError): Record<string, string> {
  return retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
}

async function token(services: Services, request: IncomingMessage, state: State): Promise<Answer> {
  if (request.method !== 'POST')
    throw new IcebergError('NotFoundException', 'send a POST request to get a token');
  const { client, requestId, memory } = state;
  const form = new URLSearchParams(await readText(request, { maxBytes: maxTokenBytes, memory }));
  const basic = basicOf(request.headers.authorization);
  return issueToken(services.auth, form, { client, requestId, now: services.now(), basic });
}

function basicOf(header: string | undefined): { username: string; password: string } | undefined {
  const [, encoded] = /^basic\s+([A-Za-z0-9+/_-]+={0,2})$/i.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Who, then what: a stranger learns nothing, and their body is not read. */
async function run(
  services: Services,
  request: IncomingMessage,
  response: ServerResponse,
  state: State,
  route: Route | undefined,
): Promise<Answer> {
  const { auth, engine } = services;
  const { client, requestId, memory } = state;
  const method = request.method ?? '';
  const identity = await auth.authenticate({ method, headers: request.headers, client, requestId });
  if (identity === undefined) throw authenticationFailed();
  state.identity = identity;
  if (route === undefined) throw new IcebergError('NotFoundException', `${method} is not served here`);
  if (expectsContinue(request)) response.writeContinue();
  const text = await readText(request, { maxBytes, memory });
  engine.usage.record();
  const { operation, warehouse, params } = route;
  const query = new URLSearchParams((request.url ?? '').split('?')[1]?.split('#')[0] ?? '');
  const [repository, ref] = [...warehouse, ...(params['namespace'] ?? '').split('\u001f')];
  state.params = { ...(repository ? { repository } : {}), ...(ref === undefined ? {} : { ref }) };
  const call: Call = {
    services,
    identity,
    client,
    warehouse,
    params,
    query,
    body: readObject(text),
    origin: `${client.secure ? 'https' : 'http'}://${request.headers.host ?? ''}`,
    ensure: (requirement) => auth.ensureAllowed(identity, requirement, client),
  };
  return operation.run(call);
}

function expectsContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}

function originOf(auth: Auth, request: IncomingMessage): ClientOrigin {
  const socket = request.socket as Partial<TLSSocket>;
  return auth.clientOf(request.socket.remoteAddress ?? '', socket.encrypted === true, request.headers);
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers }: Answer,
  requestId: string,
): Promise<number> {
  if (response.destroyed || status === 499) {
    response.destroy();
    return 0;
  }
  const isEmpty = body === undefined || request.method === 'HEAD';
  const bytes = Buffer.from(isEmpty ? '' : writeJson(body));
  const isEarly = !request.complete;
  response.writeHead(status, {
    'x-request-id': requestId,
    // Keys and tokens must not stay in a cache.
    'cache-control': 'no-store',
    ...headers,
    ...(isEmpty ? {} : { 'content-type': 'application/json', 'content-length': bytes.length }),
    ...(isEarly ? { connection: 'close' } : {}),
  });
  if (!isEarly) {
    response.end(bytes);
    return bytes.length;
  }
  // Closing with unread bytes would reset the connection before the client has seen the answer.
  response.flushHeaders();
  response.write(bytes);
  if (!expectsContinue(request)) await drained(request);
  response.end();
  return bytes.length;
}
