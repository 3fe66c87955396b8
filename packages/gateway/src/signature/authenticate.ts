import type { Auth, ClientOrigin, Identity, SigningCredentials } from '@svc/auth';
import { anonymousIdentity, AuthError, isTemporaryKeyId } from '@svc/auth';
import { ChunkSigner, type SigningKeyCache } from '@svc/encoding';
import { payloadModeOf } from '../body/payload-mode.ts';
import { invalidArgument } from '../errors/invalid-argument.ts';
import { S3Error } from '../errors/s3-error.ts';
import type { S3Request } from '../request/s3-request.ts';
import type { GatewayDomains } from '../routing/domains.ts';
import { checkV2Time, readV2Header, readV2Query, verifyV2, type V2Signature } from './sigv2.ts';
import {
  checkSignedHeaders,
  checkV4Time,
  missingParameters,
  readHeaderSignature,
  readQuerySignature,
  verifySignature,
  type V4Signature,
} from './sigv4.ts';
import type { VerifiedUrls } from './verified-urls.ts';

export interface Authenticated {
  readonly identity: Identity;
  /** The host the client signed when a proxy replaced it; used for addressing too. */
  readonly forwardedHost: string | undefined;
  /** What chunk and trailer signatures are chained to. Undefined unless the request has a SigV4 signature. */
  readonly chunkSigner: ChunkSigner | undefined;
  /** What the signature says of the body: a digest, `UNSIGNED-PAYLOAD` or a streaming mode. */
  readonly payloadHash: string | undefined;
  readonly presigned: boolean;
}

export interface Authentication {
  readonly auth: Auth;
  readonly domains: GatewayDomains;
  readonly signingKeys: SigningKeyCache;
  readonly verifiedUrls: VerifiedUrls;
  readonly now: () => number;
}

/** A bad Bearer or Basic header beside or instead of a signature: answered in JSON, as by the API. */
export class PlainAuthenticationError extends Error {
  override readonly name = 'PlainAuthenticationError';
}

type Form = 'v4-header' | 'v4-query' | 'v2-header' | 'v2-query';

function signatureForm(request: S3Request): Form | undefined {
  const authorization = request.headers.get('authorization') ?? '';
  if (authorization.startsWith('AWS4-ECDSA'))
    throw new S3Error('InvalidRequest', 'SigV4A (AWS4-ECDSA-P256-SHA256) is not supported; sign with SigV4.');
  if (authorization.startsWith('AWS4-HMAC-SHA256')) return 'v4-header';
  if (request.query.has('X-Amz-Algorithm')) return 'v4-query';
  if (authorization.startsWith('AWS ')) return 'v2-header';
  if (request.query.has('AWSAccessKeyId')) return 'v2-query';
  return undefined;
}

/** More than any client sends. Verifying the signature of a query costs far more than reading it. */
const longestQuery = 64 * 1024;

/** Who sends the request. Reads nothing of the body. */
export async function authenticate(
  request: S3Request,
  client: ClientOrigin,
  requestId: string,
  using: Authentication,
): Promise<Authenticated> {
  if (request.rawQuery.length > longestQuery)
    throw new S3Error('InvalidRequest', `The query is longer than ${longestQuery} bytes.`);
  const form = signatureForm(request);
  const plain = await plainIdentity(request, client, requestId, form !== undefined, using.auth);
  if (plain !== undefined)
    return {
      identity: plain,
      forwardedHost: undefined,
      chunkSigner: undefined,
      payloadHash: request.headers.get('x-amz-content-sha256'),
      presigned: false,
    };
  switch (form) {
    case 'v4-header':
      return authenticateV4(request, client, readHeaderSignature(request), using);
    case 'v4-query':
      return authenticateV4(request, client, readQuerySignature(request), using);
    case 'v2-header':
      return authenticateV2(request, client, readV2Header(request), using);
    case 'v2-query':
      return authenticateV2(request, client, readV2Query(request), using);
    case undefined:
      refuseUnknownCredentials(request);
      if (holdsPartOfSignature(request) || !(await using.auth.allowsAnonymous()))
        throw new S3Error('AccessDenied');
      return {
        identity: anonymousIdentity,
        forwardedHost: undefined,
        chunkSigner: undefined,
        payloadHash: undefined,
        presigned: false,
      };
  }
}

/** Refuses credentials of a form nobody knows; without any the request is anonymous. */
function refuseUnknownCredentials(request: S3Request): void {
  const authorization = request.headers.get('authorization');
  if (authorization !== undefined) {
    const [type = '', ...rest] = authorization.split(' ');
    throw invalidArgument(
      rest.length === 0
        ? "Authorization header is invalid -- one and only one ' ' (space) required."
        : 'Unsupported Authorization Type',
      'Authorization',
      type,
    );
  }
  if (request.headers.has('x-amz-signature')) throw new S3Error('MissingFields');
  if (request.query.has('X-Amz-Credential') || request.query.has('X-Amz-Signature'))
    throw missingParameters();
}

const signatureParameters: ReadonlySet<string> = new Set([
  'x-amz-algorithm',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-expires',
  'x-amz-security-token',
  'x-amz-signature',
  'x-amz-signedheaders',
  'awsaccesskeyid',
  'signature',
]);

/** Whoever meant to sign must not be served as somebody else, even when what they may read is the same. */
function holdsPartOfSignature(request: S3Request): boolean {
  if (request.headers.has('x-amz-security-token')) return true;
  return [...request.query].some(([name]) => signatureParameters.has(name.toLowerCase()));
}

/** Bearer, Basic and session cookies come before signatures: the browser's SQL engine signs with dummy keys. */
async function plainIdentity(
  request: S3Request,
  client: ClientOrigin,
  requestId: string,
  signed: boolean,
  auth: Auth,
): Promise<Identity | undefined> {
  const authorization = request.headers.get('authorization');
  const plainHeader = authorization !== undefined && /^(?:bearer|basic)\s/i.test(authorization);
  const cookie = request.headers.get('cookie');
  if (!plainHeader && cookie === undefined) return undefined;
  try {
    return await auth.authenticate({
      method: request.method,
      headers: {
        authorization: plainHeader ? authorization : undefined,
        cookie,
        origin: request.headers.get('origin'),
        host: request.headers.get('host'),
        'sec-fetch-site': request.headers.get('sec-fetch-site'),
      },
      client,
      requestId,
    });
  } catch (error) {
    const refused =
      error instanceof AuthError && (error.kind === 'unauthenticated' || error.kind === 'forbidden');
    if (refused && !plainHeader && signed) return undefined;
    if (refused) throw new PlainAuthenticationError(error.message, { cause: error });
    throw error;
  }
}

async function authenticateV4(
  request: S3Request,
  client: ClientOrigin,
  signature: V4Signature,
  { auth, signingKeys, verifiedUrls, now }: Authentication,
): Promise<Authenticated> {
  // A value that cannot be meant is told before the signature, which covers it.
  payloadModeOf(signature.payloadHash);
  checkSignedHeaders(request, signature);
  const { accessKeyId } = signature;
  const token = isTemporaryKeyId(accessKeyId) ? sessionTokenOf(request) : undefined;
  const credentials =
    token === undefined
      ? await auth.credentialsFor(accessKeyId, client)
      : await auth.temporaryCredentialsFor(accessKeyId, token, client);
  if (credentials === undefined) {
    auth.signatureFailed(client, accessKeyId);
    throw token === undefined ? unknownKey(accessKeyId) : new S3Error('ExpiredToken');
  }
  const key = signingKeys.get(credentials.secretAccessKey, signature.scope);
  let forwardedHost: string | undefined;
  if (!verifiedUrls.has(request, signature, key)) {
    const verified = verifySignature(request, signature, key);
    if (!verified.valid) {
      auth.signatureFailed(client, signature.accessKeyId);
      throw new S3Error('SignatureDoesNotMatch');
    }
    ({ forwardedHost } = verified);
    if (forwardedHost === undefined) verifiedUrls.add(request, signature, key);
  }
  checkV4Time(signature, now());
  return {
    identity: signerOf(credentials, 'sig_v4'),
    forwardedHost,
    chunkSigner: new ChunkSigner(key, signature.dateTime, signature.scope, signature.signature),
    payloadHash: signature.payloadHash,
    presigned: signature.presigned,
  };
}

async function authenticateV2(
  request: S3Request,
  client: ClientOrigin,
  signature: V2Signature,
  { auth, domains, now }: Authentication,
): Promise<Authenticated> {
  // This form signs neither the method nor any header: anybody who sees one request could turn it into another.
  if (signature.form === 'java' && request.method !== 'GET' && request.method !== 'HEAD')
    throw new S3Error(
      'AccessDenied',
      'This form of signature is accepted for reading only: sign with SigV4.',
    );
  const credentials = await auth.credentialsFor(signature.accessKeyId, client);
  if (credentials === undefined) {
    auth.signatureFailed(client, signature.accessKeyId);
    throw unknownKey(signature.accessKeyId);
  }
  const forwarded = request.headers.get('x-forwarded-host')?.split(',')[0]?.trim();
  const verify = (host: string | undefined): boolean =>
    verifyV2(request, signature, credentials.secretAccessKey, domains.repositoryOf(host ?? ''));
  const direct = verify(request.headers.get('host'));
  if (!direct && (forwarded === undefined || !verify(forwarded))) {
    auth.signatureFailed(client, signature.accessKeyId);
    throw new S3Error('SignatureDoesNotMatch');
  }
  checkV2Time(request, signature, now());
  return {
    identity: signerOf(credentials, 'sig_v2'),
    forwardedHost: direct ? undefined : forwarded,
    chunkSigner: undefined,
    payloadHash: request.headers.get('x-amz-content-sha256'),
    presigned: signature.form === 'query',
  };
}

function sessionTokenOf(request: S3Request): string | undefined {
  return request.headers.get('x-amz-security-token') ?? request.query.text('X-Amz-Security-Token');
}

function signerOf(
  { user, accessKeyId, hasView, view }: SigningCredentials,
  method: 'sig_v2' | 'sig_v4',
): Identity {
  if (view !== undefined) return { user, method, accessKeyId, hasView, view };
  return hasView ? { user, method, accessKeyId, hasView } : { user, method, accessKeyId };
}

function unknownKey(accessKeyId: string): S3Error {
  return new S3Error('InvalidAccessKeyId', undefined, { elements: [['AWSAccessKeyId', accessKeyId]] });
}
