import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { arn, one, type Auth, type AuthActor, type ClientOrigin, type Provisioning } from '@svc/auth';
import { drained, HeldMemory, type BodyMemory } from '@svc/http';
import type { ApiObserver } from '../options.ts';
import { jsonCostProblem } from '../request/json-cost.ts';
import { readBytes } from '../request/json-body.ts';
import { RequestError } from '../request/request-error.ts';
import { isObject, type JsonObject } from './json.ts';
import { routeOf, type Route } from './routes.ts';
import { invalid, ScimError, toScimError } from './scim-error.ts';

export interface ScimOptions {
  readonly auth: Auth;
  readonly directory: Provisioning;
  readonly observer?: ApiObserver | undefined;
  /** Memory for bodies being collected. Without it there is no limit. */
  readonly bodyMemory?: BodyMemory | undefined;
}

export interface ScimAnswer {
  readonly status: number;
  readonly body?: object | undefined;
  readonly location?: string | undefined;
}

/** One request of the provider, who has shown the token. */
export interface ScimCall {
  readonly directory: Provisioning;
  readonly actor: AuthActor;
  /** Of the resource that the path names; else empty. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: () => Promise<JsonObject>;
  /** Address of this service, as the provider sees it. */
  readonly base: string;
}

/** Answers requests below `/scim/`. Never rejects. */
export type ScimListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export const scimPath = '/scim/v2';
/** Who changed something, in logs. */
const provider = 'scim';
/** A group with ten thousand people has less. */
const maxBytes = 4 * 1024 * 1024;

/** SCIM 2.0: an identity provider keeps its people and groups up to date. */
export function createScim({ auth, directory, observer, bodyMemory }: ScimOptions): ScimListener {
  return async (request, response) => {
    const started = performance.now();
    const requestId = randomUUID();
    const [path = '', search = ''] = (request.url ?? '').split('#', 1)[0]?.split('?', 2) ?? [];
    const route = routeOf(request.method ?? '', path.slice(scimPath.length));
    const operationId = route?.operationId ?? 'scimUnknown';
    const client = originOf(auth, request);
    const memory = new HeldMemory(bodyMemory);
    let isProvider = false;
    let answer: ScimAnswer;
    let failure: ScimError | undefined;
    observer?.started?.(operationId);
    try {
      directory.authenticate(request.headers.authorization, client);
      isProvider = true;
      if (route === undefined) throw new ScimError(404, 'there is no such resource');
      answer = await route.run({
        directory,
        actor: { username: provider, requestId },
        id: route.id,
        query: new URLSearchParams(search),
        body: () => readObject(request, response, memory),
        base: `${client.secure ? 'https' : 'http'}://${request.headers.host ?? ''}${scimPath}`,
      });
    } catch (error) {
      failure =
        error instanceof RequestError ? new ScimError(error.status, error.message) : toScimError(error);
      if (failure.status === 500) observer?.failed?.(failure.cause ?? failure, { requestId, operationId });
      answer = { status: failure.status, body: errorView(failure) };
    }
    memory.release();
    const sentBytes = await send(request, response, answer, {
      'x-request-id': requestId,
      ...(failure?.retryAfterSeconds !== undefined && { 'retry-after': String(failure.retryAfterSeconds) }),
    });
    observer?.finished?.({
      requestId,
      operationId,
      method: request.method ?? '',
      url: request.url ?? '',
      status: response.writableEnded ? answer.status : 499,
      durationMs: performance.now() - started,
      firstByteMs: undefined,
      sentBytes,
      username: isProvider ? provider : undefined,
      authMethod: isProvider ? 'scim_token' : undefined,
      accessKeyId: undefined,
      clientIp: client.ip,
      params: {},
      requirement: route === undefined ? undefined : requirementOf(route),
      denied: undefined,
      request,
      response,
    });
  };
}

/** What a person would need to do the same, for the audit log. */
function requirementOf({ action, kind, id }: Route) {
  if (action === undefined) return undefined;
  return one(action, id === '' ? '*' : kind === 'User' ? arn.user(id) : arn.group(id));
}

async function readObject(
  request: IncomingMessage,
  response: ServerResponse,
  memory: HeldMemory,
): Promise<JsonObject> {
  if (expectsContinue(request)) response.writeContinue();
  const bytes = await readBytes(request, { maxBytes, memory });
  if (!isUtf8(bytes) || jsonCostProblem(bytes) !== undefined)
    throw invalid('invalidSyntax', 'the body is not UTF-8, or is nested too deeply');
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    // The parser quotes the body in its message.
    throw invalid('invalidSyntax', 'the body is not valid JSON');
  }
  if (!isObject(json)) throw invalid('invalidSyntax', 'the body must be a JSON object');
  return json;
}

function errorView({ status, scimType, message }: ScimError): object {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    scimType,
    detail: message,
  };
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
  { status, body, location }: ScimAnswer,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  if (response.destroyed || status === 499) {
    response.destroy();
    return 0;
  }
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const isEarly = !request.complete;
  response.writeHead(status, {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
    ...(location !== undefined && { location }),
    ...(body !== undefined && { 'content-type': 'application/scim+json', 'content-length': bytes.length }),
    ...(isEarly && { connection: 'close' }),
  });
  if (isEarly) {
    // Closing with unread bytes would reset the connection before the client has seen the answer.
    response.write(bytes);
    if (!expectsContinue(request)) await drained(request);
    response.end();
  } else response.end(bytes);
  return bytes.length;
}
