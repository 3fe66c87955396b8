import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { AuthError, committerOf } from '@svc/auth';
import type { ClientOrigin, Identity, Requirement } from '@svc/auth';
import type { Operation } from '@svc/contract';
import { isTimeRef } from '@svc/engine';
import { HeldMemory } from '@svc/http';
import type { TSchema } from 'typebox';
import { Answer, jsonHeaders } from './answer/answer.ts';
import { refusalOf, unauthenticated } from './answer/error-table.ts';
import type { Refusal } from './answer/error-table.ts';
import { send } from './answer/send.ts';
import type { Call } from './call.ts';
import type { ApiOptions } from './options.ts';
import { readBySchema } from './request/body-schema.ts';
import { takeBodySteps } from './request/body-steps.ts';
import { sendContinue } from './request/expect-continue.ts';
import { readHeaders } from './request/headers.ts';
import { maxJsonBytes, maxStrangersBytes, readJsonBody } from './request/json-body.ts';
import type { BodyLimits } from './request/json-body.ts';
import { parametersOf } from './request/parameter.ts';
import type { Parameter } from './request/parameter.ts';
import { QueryReader } from './request/query.ts';
import { parameterError, RequestError } from './request/request-error.ts';
import { requirementOf, speaksOfBody } from './requirement-template.ts';
import type { RequirementOf } from './requirement-template.ts';

type AnyHandler = (call: Call) => unknown;

/**
 * Serves one operation: parameters, authentication, permission, body, handler, answer, in this order. Only the head of
 * a stranger's request is read, unless the operation is open to everybody.
 */
export class Route {
  readonly #operation: Operation;
  readonly #options: ApiOptions;
  readonly #handler: AnyHandler;
  readonly #query: QueryReader;
  readonly #headers: readonly Parameter[];
  readonly #params: readonly Parameter[];
  readonly #bodySchema;
  /** It reads what `{ref}` stands for. */
  readonly #readsRef: boolean;
  readonly #requirement: RequirementOf;
  /** The head alone decides what must be allowed. */
  readonly #requiresBeforeBody: boolean;
  readonly #maxBytes: number;
  readonly #valueStatus: number;
  readonly #emptyStatus: number;

  constructor(operation: Operation, handler: AnyHandler, options: ApiOptions) {
    this.#operation = operation;
    this.#options = options;
    this.#handler = handler;
    this.#query = new QueryReader(parametersOf(operation.query, 'query'));
    this.#headers = parametersOf(operation.headers, 'header');
    this.#params = parametersOf(operation.params, 'path');
    this.#readsRef = operation.path.includes('/refs/{ref}/') && !operation.path.endsWith('/resolve');
    this.#requirement = requirementOf(operation.requires);
    this.#requiresBeforeBody = !speaksOfBody(operation.requires);
    this.#maxBytes = operation.requires.type === 'open' ? maxStrangersBytes : maxJsonBytes;
    this.#bodySchema = operation.body?.content['application/json'];
    const successes = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
    this.#valueStatus = Number(successes[0] ?? 200);
    this.#emptyStatus = successes.includes('204') ? 204 : this.#valueStatus;
  }

  async serve(
    request: IncomingMessage,
    response: ServerResponse,
    params: Readonly<Record<string, string>>,
  ): Promise<void> {
    const started = performance.now();
    const requestId = randomUUID();
    const { auth, observer, bodyMemory } = this.#options;
    auth.enterRequest?.(requestId);
    const { operationId, requires, inSimplifiedMode } = this.#operation;
    observer?.started?.(operationId);
    let identity: Identity | undefined;
    let client: ClientOrigin | undefined;
    let requirement: Requirement | undefined;
    let denied: string | undefined;
    let loggedIn: string | undefined;
    let isStranger = false;
    let isPermitted = false;
    let status: number;
    let sentBytes = 0;
    let firstByteAt: number | undefined;
    // Set once the request is well-formed: refusals before that carry no id.
    let sentId: string | undefined;
    const memory = new HeldMemory(requires.type === 'open' ? bodyMemory?.strangers : bodyMemory?.callers);
    try {
      this.#checkParams(params);
      const query = this.#query.read(request.url ?? '');
      const headers = readHeaders(this.#headers, request.headers);
      sentId = requestId;
      if (auth.mode === 'simplified' && !inSimplifiedMode) {
        throw new RequestError(501, 'Not Implemented');
      }
      const socket = request.socket as Socket & Partial<TLSSocket>;
      client = auth.clientOf(socket.remoteAddress ?? '', socket.encrypted === true, request.headers);
      if (requires.type !== 'open') {
        const method = request.method ?? '';
        identity =
          auth.authenticateAtOnce(request.headers, socket) ??
          (await auth.authenticate({ method, headers: request.headers, client, requestId }));
        isStranger = identity === undefined;
        if (identity === undefined) throw unauthenticated();
        if (this.#requiresBeforeBody) {
          requirement = this.#requirement({ path: params, query, body: undefined });
          const checking = this.#check(requirement, identity, client);
          if (checking !== undefined) await checking;
        }
      }
      sendContinue(request, response);
      sentId = undefined;
      const body =
        this.#bodySchema === undefined
          ? undefined
          : await this.#readBody(request, this.#bodySchema, { maxBytes: this.#maxBytes, memory });
      sentId = requestId;
      if (identity !== undefined && !this.#requiresBeforeBody) {
        requirement = this.#requirement({ path: params, query, body });
        const checking = this.#check(requirement, identity, client);
        if (checking !== undefined) await checking;
      }
      isPermitted = true;
      this.#options.engine.usage.record();
      const { ref = '' } = params;
      const call = new RunningCall(this.#options, {
        params: this.#readsRef && isTimeRef(ref) ? await this.#pinTime(params, response) : params,
        query,
        headers,
        body,
        requestId,
        client,
        identity,
        request,
        response,
        memory,
        logIn: (username) => {
          loggedIn = username;
        },
      });
      const answer = this.#answerOf(await this.#handler(call as unknown as Call));
      status = answer.status;
      firstByteAt = performance.now();
      const sent = send(request, response, answer, sentId);
      sentBytes = typeof sent === 'number' ? sent : await sent;
    } catch (error) {
      memory.release();
      let refusal = clientGone(request, response) ? goneRefusal : refusalOf(error);
      // What an operation looks up by itself may name what the caller must not know.
      if (!isPermitted) refusal = withRequired(refusal, error);
      const malformed =
        identity === undefined && refusal.status === 401 ? await this.#malformed(request) : undefined;
      if (malformed !== undefined) {
        refusal = malformed;
        sentId = undefined;
      }
      status = refusal.status;
      if (refusal.unexpected === true) observer?.failed?.(error, { requestId, operationId });
      if (status === 401 && !isStranger) denied = refusal.message;
      firstByteAt ??= performance.now();
      sentBytes = await this.#refuse(request, response, refusal, sentId);
    }
    memory.release();
    observer?.finished?.({
      requestId,
      operationId,
      method: request.method ?? '',
      url: request.url ?? '',
      status: response.writableFinished || response.writableEnded ? status : 499,
      durationMs: performance.now() - started,
      firstByteMs: firstByteAt === undefined ? undefined : firstByteAt - started,
      sentBytes,
      username: identity?.user.username ?? loggedIn,
      authMethod: identity?.method,
      accessKeyId: identity?.accessKeyId,
      clientIp: client?.ip ?? request.socket.remoteAddress ?? '',
      params,
      requirement,
      denied,
      request,
      response,
    });
  }

  /** Why a stranger's body is malformed, if it has already arrived: that refusal goes first. Never waits for a body. */
  async #malformed(request: IncomingMessage): Promise<Refusal | undefined> {
    if (this.#bodySchema === undefined) return undefined;
    // What came in the same packet as the head is read in this turn of the event loop.
    if (!request.complete) await nextTurn();
    if (!request.complete) return undefined;
    const memory = new HeldMemory(this.#options.bodyMemory?.strangers);
    try {
      await this.#readBody(request, this.#bodySchema, { maxBytes: maxStrangersBytes, memory });
      return undefined;
    } catch (error) {
      const refusal = refusalOf(error);
      return refusal.status === 400 ? refusal : undefined;
    } finally {
      memory.release();
    }
  }

  /** Rejects unless the caller is allowed. Undefined: allowed, known without waiting. */
  #check(
    requirement: Requirement | undefined,
    identity: Identity,
    client: ClientOrigin,
  ): Promise<void> | undefined {
    const { auth } = this.#options;
    if (requirement === undefined || auth.allowsAtOnce(identity, requirement, client)) return undefined;
    return auth.ensureAllowed(identity, requirement, client);
  }

  /** A time is answered by its commit, which is told: whoever reads more can name the very same state. */
  async #pinTime(
    params: Readonly<Record<string, string>>,
    response: ServerResponse,
  ): Promise<Readonly<Record<string, string>>> {
    const { repository = '', ref = '' } = params;
    const { commitId } = await this.#options.engine.refs.resolve({ repository, ref });
    response.setHeader('X-Svc-Commit', commitId);
    return { ...params, ref: commitId };
  }

  #checkParams(params: Readonly<Record<string, string>>): void {
    for (const name in params) {
      if (params[name] === '') throw parameterError('path', name, 'empty value is not allowed');
      if (params[name]?.includes('\0') === true) {
        throw parameterError('path', name, 'a zero byte is not allowed');
      }
    }
    for (const parameter of this.#params) parameter.parse(params[parameter.name] ?? '');
  }

  async #readBody(request: IncomingMessage, schema: TSchema, limits: BodyLimits): Promise<unknown> {
    const { body, bodySteps } = this.#operation;
    const value = await readJsonBody(request, body?.required === true, limits);
    return value === undefined ? undefined : takeBodySteps(bodySteps, readBySchema(schema, value));
  }

  #answerOf(result: unknown): Answer {
    if (result instanceof Answer) return result;
    if (result === undefined) return new Answer(this.#emptyStatus);
    return new Answer(this.#valueStatus, jsonHeaders, JSON.stringify(result));
  }

  async #refuse(
    request: IncomingMessage,
    response: ServerResponse,
    refusal: Refusal,
    requestId: string | undefined,
  ): Promise<number> {
    if (response.headersSent || refusal.status === 499) {
      // Part of the answer is out. Breaking the connection keeps anybody from taking it for the whole.
      response.destroy();
      return 0;
    }
    const message =
      refusal.untold === true && requestId !== undefined
        ? `${refusal.message}, request id ${requestId}`
        : refusal.message;
    const body = { message, ...(refusal.noAcl === true && { no_acl: true }), ...refusal.more };
    const answer =
      request.method === 'HEAD'
        ? new Answer(refusal.status, refusal.headers)
        : Answer.json(refusal.status, body, refusal.headers);
    return await send(request, response, answer, requestId);
  }
}

const maxRequired = 4096;

/** Names the permission that is lacking, so that whoever may read policies can be told why. */
function withRequired(refusal: Refusal, error: unknown): Refusal {
  if (!(error instanceof AuthError) || error.required === undefined) return refusal;
  const { action, resource } = error.required;
  const required = `${action} ${encodeURI(resource.toWellFormed())}`;
  // Clients refuse answers with long headers, and the caller knows a name that long.
  if (required.length > maxRequired) return refusal;
  return { ...refusal, headers: { ...refusal.headers, 'x-svc-required': required } };
}

const goneRefusal: Refusal = { status: 499, message: 'the client went away' };

/** The connection ended before the request was read or the answer was sent. */
function clientGone(request: IncomingMessage, response: ServerResponse): boolean {
  return response.destroyed || (request.destroyed && !request.complete);
}

interface CallParts {
  readonly params: Readonly<Record<string, string>>;
  readonly query: object;
  readonly headers: object;
  readonly body: unknown;
  readonly requestId: string;
  readonly client: ClientOrigin;
  readonly identity: Identity | undefined;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly memory: HeldMemory;
  readonly logIn: (username: string) => void;
}

class RunningCall {
  readonly params;
  readonly query;
  readonly headers;
  readonly body;
  readonly requestId;
  readonly client;
  readonly request;
  readonly response;
  readonly memory;
  readonly logIn;
  readonly #identity: Identity | undefined;
  readonly #options: ApiOptions;

  constructor(options: ApiOptions, parts: CallParts) {
    this.params = parts.params;
    this.query = parts.query;
    this.headers = parts.headers;
    this.body = parts.body;
    this.requestId = parts.requestId;
    this.client = parts.client;
    this.request = parts.request;
    this.response = parts.response;
    this.memory = parts.memory;
    this.logIn = parts.logIn;
    this.#identity = parts.identity;
    this.#options = options;
  }

  get identity(): Identity {
    if (this.#identity === undefined) throw new TypeError('an open operation has no caller');
    return this.#identity;
  }

  get actor(): { committer: string; userId: string; requestId: string } {
    const { user } = this.identity;
    return { committer: committerOf(user), userId: user.username, requestId: this.requestId };
  }

  ensure(requirement: Requirement): Promise<void> | undefined {
    const { auth } = this.#options;
    if (auth.allowsAtOnce(this.identity, requirement, this.client)) return undefined;
    return auth.ensureAllowed(this.identity, requirement, this.client);
  }
}
