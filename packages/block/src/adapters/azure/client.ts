import { encodeQuery } from '@svc/encoding';
import type { AzureStoreConfig, BlockLogger } from '../../config.ts';
import { BlockError, type BlockErrorKind } from '../../errors.ts';
import type { StoreResponse } from '../../remote/connection.ts';
import { Renewing } from '../../remote/renewing.ts';
import type { RequestBody } from '../../remote/request-body.ts';
import {
  StoreHttp,
  type PreparedRequest,
  type Refusal,
  type StoreProtocol,
} from '../../remote/store-http.ts';
import type { AccessToken } from '../../remote/token-requests.ts';
import { childText, parseXml, requireXml } from '../../remote/xml.ts';
import { bytesRequest } from '../../remote/request-body.ts';
import { AzureAddresses, type BlobPlace } from './addresses.ts';
import { AzureEndpoint } from './endpoint.ts';
import { azureIdentity } from './identity.ts';
import {
  apiVersion,
  sharedAccessQuery,
  sharedKeyAuthorization,
  withoutMilliseconds,
  type AccessSigner,
} from './signatures.ts';

/** A delegation key outlives the URLs it signs by this much, so that one serves many. */
const delegationSpareMs = 60 * 60_000;
/** Nobody is waited for who says nothing for so long, but for copies and joins. */
const silenceMs = 60_000;
/** Clocks that differ more than this are why a signature was refused. */
const tolerableSkewMs = 5 * 60_000;

export interface AzureRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Without a container: the account. Without a key: the container. */
  readonly place: { readonly account: string; readonly container?: string; readonly key?: string };
  readonly query?: readonly (readonly [name: string, value: string])[];
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  readonly signal?: AbortSignal | undefined;
  readonly answerTimeoutMs?: number;
  readonly mayGoOn?: (() => boolean) | undefined;
}

const kinds: Readonly<Record<string, BlockErrorKind>> = {
  BlobNotFound: 'not_found',
  ResourceNotFound: 'not_found',
  BlobAlreadyExists: 'already_exists',
  ConditionNotMet: 'already_exists',
  InvalidRange: 'bad_index',
  InvalidBlockList: 'invalid_part',
  InvalidUri: 'invalid_address',
  InvalidResourceName: 'invalid_address',
  BlobArchived: 'forbidden',
  BlobImmutableDueToPolicy: 'forbidden',
};

/** Sends requests signed with the account key, or with a token of the cloud's identity. */
export class AzureClient {
  readonly addresses: AzureAddresses;
  /** For calls that keep the store busy before it answers. */
  readonly tryTimeoutMs: number;
  readonly #endpoint: AzureEndpoint;
  readonly #http: StoreHttp;
  readonly #account: string;
  readonly #key: Buffer | undefined;
  readonly #token: Renewing<AccessToken>;
  readonly #delegations = new Map<string, Renewing<AccessSigner>>();
  readonly #expiryMs: number;
  /** How far the store's clock is ahead of ours, learnt when it complains. */
  #clockOffsetMs = 0;

  constructor(config: AzureStoreConfig, logger: BlockLogger | undefined, env?: NodeJS.ProcessEnv) {
    const domain = config.domain ?? 'blob.core.windows.net';
    this.addresses = new AzureAddresses(domain);
    this.#endpoint = new AzureEndpoint(domain, config.testEndpointUrl);
    this.#account = config.storageAccount ?? '';
    this.#key = accountKey(config);
    this.#token = new Renewing(azureIdentity(domain, env));
    this.#expiryMs = config.preSignedExpiryMs ?? 15 * 60_000;
    const protocol: StoreProtocol = {
      readRefusal,
      kindOf: ({ code }, access) =>
        code === 'ContainerNotFound' ? (access === 'read' ? 'not_found' : 'invalid_namespace') : kinds[code],
      correct: (refusal, header) => this.#correct(refusal, header),
    };
    this.tryTimeoutMs = config.tryTimeoutMs ?? 10 * 60_000;
    const timeoutMs = Math.min(silenceMs, this.tryTimeoutMs);
    this.#http = new StoreHttp(protocol, { logger, timeoutMs, maxRetries: config.maxRetries ?? 5 });
  }

  get connectionsInUse(): number {
    return this.#http.connectionsInUse;
  }

  /** A successful response; its body must be read or dumped. */
  send(request: AzureRequest): Promise<StoreResponse> {
    const { method, place, body, signal, answerTimeoutMs, mayGoOn } = request;
    const target = this.addresses.uriOf({ container: '', key: '', ...place });
    const access = method === 'GET' || method === 'HEAD' ? 'read' : 'write';
    const prepare = (): Promise<PreparedRequest> => this.#prepare(request);
    return this.#http.send({ method, target, access, body, signal, answerTimeoutMs, mayGoOn, prepare });
  }

  /** A request to delete that goes with others. */
  batchedDelete(place: BlobPlace): Promise<PreparedRequest> {
    return this.#prepare({ method: 'DELETE', place }, true);
  }

  async #prepare(request: AzureRequest, isBatched = false): Promise<PreparedRequest> {
    const { method, body, query = [] } = request;
    const { account, container, key } = request.place;
    const { origin, path } = this.#endpoint.locate(account, container, key);
    const now = new Date(Date.now() + this.#clockOffsetMs);
    const headers: Record<string, string> = {
      ...request.headers,
      'x-ms-date': now.toUTCString(),
      // A request in a batch has the version of the batch.
      ...(isBatched ? {} : { 'x-ms-version': apiVersion }),
    };
    const accountKey = this.#keyOf(account);
    if (accountKey === undefined) {
      const { token } = await this.#token.get();
      headers['authorization'] = `Bearer ${token}`;
    } else {
      const signed = { method, account, path, query, headers, contentLength: body?.size ?? 0 };
      headers['authorization'] = sharedKeyAuthorization(signed, accountKey);
    }
    const encoded = encodeQuery(query);
    return { origin, path: encoded === '' ? path : `${path}?${encoded}`, headers };
  }

  /** Undefined for accounts other than the configured one: they are reached with the cloud's identity. */
  #keyOf(account: string): Buffer | undefined {
    return account === this.#account ? this.#key : undefined;
  }

  #correct({ status, code }: Refusal, header: (name: string) => string | undefined): boolean {
    if (status !== 401 && code !== 'AuthenticationFailed') return false;
    const offset = Date.parse(header('date') ?? '') - Date.now();
    if (Math.abs(offset - this.#clockOffsetMs) > tolerableSkewMs) {
      this.#clockOffsetMs = offset;
      return true;
    }
    this.#token.forget();
    return status === 401;
  }

  /** A URL that carries its own permission, and when it ends. */
  async sharedAccessUrl(
    place: BlobPlace,
    permissions: string,
    contentDisposition?: string,
  ): Promise<{ url: string; expiry: Date }> {
    const now = Date.now() + this.#clockOffsetMs;
    const wanted = new Date(Math.floor((now + this.#expiryMs) / 1000) * 1000);
    const key = this.#keyOf(place.account);
    const signer =
      key === undefined ? await this.#delegationOf(place.account).get() : { value: key, delegation: [] };
    const { expiration = wanted } = signer;
    const expiry = expiration < wanted ? expiration : wanted;
    const httpsOnly = !this.#endpoint.isPlainHttp;
    const query = sharedAccessQuery({ ...place, permissions, expiry, contentDisposition, httpsOnly }, signer);
    const { origin, path } = this.#endpoint.locate(place.account, place.container, place.key);
    return { url: `${origin}${path}?${encodeQuery(query)}`, expiry };
  }

  #delegationOf(account: string): Renewing<AccessSigner> {
    let delegation = this.#delegations.get(account);
    if (delegation === undefined) {
      delegation = new Renewing(() => this.#askDelegation(account), this.#expiryMs);
      this.#delegations.set(account, delegation);
    }
    return delegation;
  }

  async #askDelegation(account: string): Promise<AccessSigner> {
    const now = Date.now() + this.#clockOffsetMs;
    const expiry = withoutMilliseconds(new Date(now + this.#expiryMs + delegationSpareMs));
    const start = withoutMilliseconds(new Date(now - tolerableSkewMs));
    const body = `<KeyInfo><Start>${start}</Start><Expiry>${expiry}</Expiry></KeyInfo>`;
    const response = await this.send({
      method: 'POST',
      place: { account },
      query: [
        ['restype', 'service'],
        ['comp', 'userdelegationkey'],
      ],
      headers: { 'content-type': 'application/xml' },
      body: bytesRequest(Buffer.from(body)),
    });
    const answer = requireXml(await response.body.text(), 'UserDelegationKey');
    const field = (name: string): string => childText(answer, name) ?? '';
    const names = ['SignedOid', 'SignedTid', 'SignedStart', 'SignedExpiry', 'SignedService', 'SignedVersion'];
    return {
      value: Buffer.from(field('Value'), 'base64'),
      expiration: new Date(field('SignedExpiry')),
      delegation: names.map(field),
    };
  }

  async close(): Promise<void> {
    await this.#http.close();
  }
}

function accountKey(config: AzureStoreConfig): Buffer | undefined {
  if (config.authMethod === 'msi' || !config.storageAccessKey) return undefined;
  if (!config.storageAccount) {
    throw new BlockError('configuration', 'azure.storage_access_key needs azure.storage_account');
  }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(config.storageAccessKey)) {
    throw new BlockError('configuration', 'azure.storage_access_key is not base64: copy the whole key');
  }
  return Buffer.from(config.storageAccessKey, 'base64');
}

function readRefusal(status: number, text: string, header: (name: string) => string | undefined): Refusal {
  const error = parseXml(text);
  return {
    status,
    code: header('x-ms-error-code') ?? childText(error, 'Code') ?? '',
    // The rest of the message is a request id and a time.
    message: childText(error, 'Message')?.split('\n', 1)[0]?.trim() ?? '',
  };
}
