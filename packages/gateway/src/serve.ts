import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { arn, one, or, type ClientOrigin } from '@svc/auth';
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
import { locateCopySource, type LocatedSource } from './operations/copy-source.ts';
import { addressOf, type Address } from './routing/address.ts';
import { findBucket, findBucketAtOnce, keyIn, notWritable, shownBy } from './routing/bucket.ts';
import { locateBound, type Located } from './routing/locate-bound.ts';
import { routeOf, type Route } from './routing/route.ts';
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
  /** Set for a bound bucket: what the client called it. */
  shown: { readonly bucket: string; readonly key: string } | undefined;
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
  services.auth.enterRequest?.(requestId);
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
    shown: undefined,
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
  const located = await locate(state, authenticated, client, routed);
  if (located === 'forwarded') return;
  const { address, operation, shape, repository, bound } = located;
  if (isAnonymous && !operation.forAnonymous) throw new S3Error('AccessDenied');
  state.intent = operation.intent;
  if (Buffer.byteLength(address.path) > maxPath) throw new S3Error('KeyTooLongError');
  const copySource = await locateCopySource(services, authenticated.identity, request);
  await authorize(state, authenticated, client, { ...located, copySource });
  checkSupported(request, shape, services.verifyUnsupported);
  const isRefusedWrite = operation.intent === 'write' && !operation.allowedReadOnly;
  if (repository?.readOnly === true && isRefusedWrite) throw new S3Error('ErrReadOnlyRepository');
  const shown =
    repository === undefined || bound === undefined || located.isUpload || operation.findsShown
      ? undefined
      : await shownBy(services, repository, bound);
  if (bound !== undefined && shown?.writable === false && isRefusedWrite) throw notWritable(bound, shown);

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
    host: routed.host,
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
  const ref = shown === undefined || operation.intent === 'write' ? (address.ref ?? '') : shown.ref;
  const onRepository: Call = {
    ...call,
    repository,
    ref,
    path: address.path,
    bucket: bound?.bucket ?? repository.id,
    bound,
    commitId: shown?.commitId,
    copySource,
  };
  return operation.run(onRepository);
}

function sendContinue(state: RequestState): void {
  if (state.continued) return;
  state.continued = true;
  state.response.writeContinue();
}

/** Finds the bucket of the address. A request for an unknown one goes to the fallback server or is refused. */
async function locate(
  state: RequestState,
  authenticated: Authenticated,
  client: ClientOrigin,
  routed: Exclude<Routed, S3Error>,
): Promise<Located | 'forwarded'> {
  const { services, request } = state;
  const { address, operation, shape } = routed;
  const nothing = { address, operation, shape, bound: undefined, isUpload: false };
  if (address.repository === undefined) return { ...nothing, repository: undefined };
  const { identity } = authenticated;
  const found =
    findBucketAtOnce(services, identity, address.repository) ??
    (await findBucket(services, identity, address.repository));
  if (found?.bound !== undefined) {
    const bound = { ...found.bound, key: keyIn(address) };
    state.shown = { bucket: bound.bucket, key: bound.key };
    state.record.binding = identity.hasView === true ? 'view' : 'alias';
    return locateBound(state, found.repository, bound, address);
  }
  if (found !== undefined) return { ...nothing, repository: found.repository };
  const isAnonymous = identity.method === 'anonymous';
  if (isAnonymous && !operation.forAnonymous) throw new S3Error('AccessDenied');
  const decision = await services.auth.authorize(identity, one('fs:ListRepositories', arn.all), client);
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
  { address, operation, bound, copySource }: Located & { readonly copySource: LocatedSource },
): Promise<void> {
  const repository = address.repository ?? '';
  const { requires } = operation;
  const isFixed = typeof requires === 'function';
  const { request } = state;
  const input = { request, repository, path: address.path, isBound: bound !== undefined, copySource };
  const requirement = isFixed
    ? requires(input)
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
      // What lies behind a bound bucket is not the client's business.
      repository: state.shown?.bucket ?? record.repository,
      ref: state.shown === undefined ? record.ref : undefined,
      path: state.shown?.key ?? record.path,
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
    binding: undefined,
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
