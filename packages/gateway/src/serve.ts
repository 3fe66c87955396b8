import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { arn, one, or, type ClientOrigin } from '@svc/auth';
import { EngineError, type Repository } from '@svc/engine';
import { drained, HeldMemory } from '@svc/http';
import { ClientGoneError, RequestBody } from './body/request-body.ts';
import type { Call } from './call.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { S3Error } from './errors/s3-error.ts';
import { sendError } from './errors/send-error.ts';
import { toS3Error, type Intent } from './errors/to-s3-error.ts';
import { forward } from './fallback.ts';
import { Reply } from './reply.ts';
import { readS3Request, type S3Request } from './request/s3-request.ts';
import { addressOf, type Address } from './routing/address.ts';
import { routeOf, type Route } from './routing/route.ts';
import type { S3Operation } from './routing/s3-operation.ts';
import { checkSupported } from './routing/unsupported.ts';
import type { RequestRecord, Services } from './services.ts';
import { authenticate, PlainAuthenticationError, type Authenticated } from './signature/authenticate.ts';

const maxPath = 1024;
/** If less than this is left to read, the connection is kept. */
const keepAliveDrainLimit = 1024 * 1024;

interface RequestState {
  readonly services: Services;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: S3Request;
  readonly reply: Reply;
  readonly record: RequestRecord;
  readonly memory: HeldMemory;
  readonly expectsContinue: boolean;
  continued: boolean;
  intent: Intent;
  body: RequestBody | undefined;
  /**
   * The caller must not learn whether the repository exists. Until one of their rights is found, every refusal is the
   * one that an unknown repository gets.
   */
  concealed: boolean;
}

/** Answers one request: who, where, may they, then the operation. Never rejects. */
export async function serve(
  services: Services,
  message: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
): Promise<void> {
  const started = performance.now();
  const requestId = randomUUID();
  const request = readS3Request(message);
  const record = newRecord(request, requestId, services);
  const state: RequestState = {
    services,
    message,
    response,
    request,
    reply: new Reply({
      response,
      requestId,
      hostId: services.hostId,
      head: request.method === 'HEAD',
      accept: request.headers.get('accept'),
      always: corsHeaders(request, services.cors),
    }),
    record,
    memory: new HeldMemory(services.bodyMemory),
    expectsContinue,
    continued: !expectsContinue,
    intent: request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write',
    body: undefined,
    concealed: false,
  };
  const routed = tryRoute(state, request.headers.get('host') ?? '');
  record.operation = routed instanceof S3Error ? 'unsupported' : routed.operation.id;
  services.observer?.started(record.operation);
  const begun = record.operation;
  try {
    await answer(state, routed);
    record.status = state.reply.status === 0 ? record.status : state.reply.status;
  } catch (error) {
    fail(state, error);
  }
  state.memory.release();
  record.operation = begun;
  record.bytesSent = state.reply.bytesSent;
  record.durationMs = performance.now() - started;
  services.observer?.finished(record);
}

/** Where a request leads, or the refusal that it gets once the caller is known. */
type Routed = (Route & { readonly address: Address; readonly host: string }) | S3Error;

function tryRoute(state: RequestState, host: string): Routed {
  try {
    const address = addressOf(state.request.rawPath, host, state.services.domains);
    state.record.repository = address.repository;
    state.record.ref = address.ref;
    state.record.path = address.ref === undefined ? undefined : address.path;
    return { ...routeOf(state.request, address), address, host };
  } catch (error) {
    return toS3Error(error, 'read');
  }
}

async function answer(state: RequestState, routedByHost: Routed): Promise<void> {
  const { services, request, record } = state;
  // Says nothing of any repository, and so needs no caller.
  if (request.method === 'OPTIONS') return state.reply.empty(200, preflightHeaders(request, services.cors));
  const client = services.auth.clientOf(request.remoteAddress, request.encrypted, {
    'x-forwarded-for': request.headers.get('x-forwarded-for'),
    'x-real-ip': request.headers.get('x-real-ip'),
    'x-forwarded-proto': request.headers.get('x-forwarded-proto'),
  });
  const authenticated = await authenticate(request, client, record.requestId, services);
  record.identity = authenticated.identity;
  const routed =
    authenticated.forwardedHost === undefined ? routedByHost : tryRoute(state, authenticated.forwardedHost);
  const isAnonymous = authenticated.identity.method === 'anonymous';
  if (routed instanceof S3Error) throw isAnonymous ? new S3Error('AccessDenied') : routed;
  if (isAnonymous && !routed.operation.forAnonymous) throw new S3Error('AccessDenied');
  const { address, operation, shape, host } = routed;
  state.intent = operation.intent;
  if (Buffer.byteLength(address.path) > maxPath) throw new S3Error('KeyTooLongError');

  const repository = await findRepository(state, authenticated, client, address, operation);
  if (repository === 'forwarded') return;
  await authorize(state, authenticated, client, address, operation);
  checkSupported(request, shape, services.verifyUnsupported);
  if (repository?.readOnly === true && operation.intent === 'write' && !operation.allowedReadOnly)
    throw new S3Error('ErrReadOnlyRepository');

  record.event = operation.event;
  services.engine.usage.record();
  const body = new RequestBody({
    message: state.message,
    request,
    authenticated,
    checksumIsOfBody: operation.checksumIsOfBody,
    memory: state.memory,
    beforeRead: () => sendContinue(state),
  });
  state.body = body;
  const call = {
    services,
    message: state.message,
    request,
    reply: state.reply,
    identity: authenticated.identity,
    client,
    presigned: authenticated.presigned,
    slashAfterRef: address.slashAfterRef,
    virtualHost: address.virtualHost,
    host,
    body,
    expectsContinue: state.expectsContinue,
    record,
    concealed: state.concealed,
    reveal: () => {
      state.concealed = false;
    },
  };
  if (operation.on === 'service') return operation.run(call);
  if (repository === undefined) throw operation.noRepository();
  const onRepository: Call = { ...call, repository, ref: address.ref ?? '', path: address.path };
  return operation.run(onRepository);
}

function sendContinue(state: RequestState): void {
  if (state.continued) return;
  state.continued = true;
  state.response.writeContinue();
}

/** The repository of the address. A request for an unknown one goes to the fallback server or is refused. */
async function findRepository(
  state: RequestState,
  authenticated: Authenticated,
  client: ClientOrigin,
  address: Address,
  operation: S3Operation,
): Promise<Repository | 'forwarded' | undefined> {
  const { services, request } = state;
  if (address.repository === undefined) return undefined;
  try {
    if (/^[a-z0-9][a-z0-9-]{2,62}$/.test(address.repository))
      return await services.engine.repositories.get(address.repository);
  } catch (error) {
    const absent =
      error instanceof EngineError && (error.kind === 'not_found' || error.kind === 'in_deletion');
    if (!absent) throw error;
  }
  const decision = await services.auth.authorize(
    authenticated.identity,
    one('fs:ListRepositories', arn.all),
    client,
  );
  if (!decision.allowed) throw new S3Error('AccessDenied');
  if (services.fallbackUrl !== undefined) {
    state.record.status = await forward({
      target: services.fallbackUrl,
      message: state.message,
      response: state.response,
      domains: services.domains,
      beforeRead: () => sendContinue(state),
    });
    return 'forwarded';
  }
  if (request.rawPath.startsWith('/api/v1')) throw new S3Error('ErrNoSuchBucketPossibleAPIEndpoint');
  throw operation.noRepository();
}

async function authorize(
  state: RequestState,
  authenticated: Authenticated,
  client: ClientOrigin,
  address: Address,
  operation: S3Operation,
): Promise<void> {
  const repository = address.repository ?? '';
  const { requires } = operation;
  const isFixed = typeof requires === 'function';
  const requirement = isFixed
    ? requires({ request: state.request, repository, path: address.path })
    : or(one('fs:ReadRepository', arn.repository(repository)), one('fs:ListRepositories', arn.all));
  const decision = await state.services.auth.authorize(authenticated.identity, requirement, client);
  if (decision.allowed) return;
  if (isFixed || requires === 'authenticated') throw new S3Error('AccessDenied');
  state.concealed = true;
}

/** Turns whatever went wrong into the one answer the client gets. */
function fail(state: RequestState, thrown: unknown): void {
  const { services, message, response, reply, record } = state;
  const error = state.body?.failure ?? thrown;
  state.body?.abandon();
  if (error instanceof ClientGoneError || response.destroyed || (message.destroyed && !message.complete)) {
    record.status = 499;
    response.destroy();
    return;
  }
  if (error instanceof PlainAuthenticationError) {
    record.status = 401;
    reply.json(401, { message: error.message }, disposeBody(state));
    return;
  }
  const refusal = state.concealed ? new S3Error('AccessDenied') : toS3Error(error, state.intent);
  if (refusal.status === 500)
    services.logger.error(
      { err: refusal.cause ?? refusal, request_id: record.requestId, operation: record.operation },
      'gateway request failed',
    );
  record.status = refusal.status;
  record.errorCode = refusal.code;
  if (reply.headSent) {
    // Part of an object was sent: only a broken connection tells the client.
    response.destroy();
    return;
  }
  sendError(
    reply,
    refusal,
    {
      requestId: record.requestId,
      hostId: services.hostId,
      region: services.region,
      repository: record.repository,
      ref: record.ref,
      path: record.path,
    },
    disposeBody(state),
  );
}

/** Decides what happens to a body nobody will read; returns the headers that say so. */
function disposeBody({ message, reply, continued }: RequestState): Record<string, string> {
  if (message.readableEnded) return {};
  const { 'content-length': length, 'transfer-encoding': encoding } = message.headers;
  if (encoding === undefined && (length === undefined || length === '0')) return {};
  // A client that was not told to continue may or may not send its body: the connection cannot be reused.
  if (continued && encoding === undefined && Number(length) <= keepAliveDrainLimit) {
    message.resume();
    return {};
  }
  reply.endAfter = drained(message);
  return { Connection: 'close' };
}

function newRecord(request: S3Request, requestId: string, services: Services): RequestRecord {
  const host = request.headers.get('host') ?? '';
  const userAgent = request.headers.get('user-agent') ?? '';
  return {
    requestId,
    method: request.method,
    host,
    rawPath: request.rawPath,
    remoteAddress: request.remoteAddress,
    userAgent,
    client: request.headers.get('x-lakefs-client') ?? userAgent,
    operation: 'not_found',
    event: undefined,
    identity: undefined,
    repository: undefined,
    ref: undefined,
    path: undefined,
    matchedHost: services.domains.matches(host),
    uploadId: request.query.text('uploadId'),
    partNumber: request.query.text('partNumber'),
    status: 0,
    errorCode: undefined,
    bytesSent: 0,
    bytesIn: 0,
    bytesOut: 0,
    durationMs: 0,
  };
}
