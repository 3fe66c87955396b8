import type { ExternalPrincipalLogin, StsLogin } from '../auth.ts';
import { AuthError } from '../errors.ts';
import type { AuthenticationService } from './contract.ts';
import { callService, type ServiceResponse } from './service-call.ts';

export interface AuthenticationServiceSettings {
  readonly endpoint: string;
  readonly externalPrincipals: boolean;
  /** Claims that must be there with these values. */
  readonly requiredClaims: Readonly<Record<string, string>>;
}

const timeoutMs = 10_000;

/** A service of the operator that knows who authorization codes and identities of clouds stand for. */
export class RemoteAuthenticationService implements AuthenticationService {
  readonly verifyPrincipal: AuthenticationService['verifyPrincipal'];
  readonly #endpoint: string;
  readonly #requiredClaims: Readonly<Record<string, string>>;

  constructor({ endpoint, externalPrincipals, requiredClaims }: AuthenticationServiceSettings) {
    this.#endpoint = endpoint.replace(/\/+$/, '');
    this.#requiredClaims = requiredClaims;
    this.verifyPrincipal = externalPrincipals ? (request) => this.#verify(request) : undefined;
  }

  async stsLogin({
    code,
    state,
    redirectUri,
    requestId,
  }: StsLogin): Promise<{ readonly externalId: string }> {
    const answer = await this.#post('/sts/login', { code, state, redirect_uri: redirectUri }, requestId);
    if (answer.status === 401) throw unauthorized();
    const claims = objectOf(succeeded(answer)['claims']);
    const externalId = claims['sub'];
    if (typeof externalId !== 'string' || externalId === '') throw unauthorized();
    for (const [name, value] of Object.entries(this.#requiredClaims)) {
      if (claims[name] !== value) throw unauthorized();
    }
    return { externalId };
  }

  async #verify({ identityRequest, requestId }: ExternalPrincipalLogin): Promise<{
    readonly principalId: string;
  }> {
    const answer = await this.#post('/auth/external/principal/login', identityRequest, requestId);
    if (answer.status === 401) throw new AuthError('unauthenticated', 'invalid token format');
    if (answer.status === 403) throw new AuthError('forbidden', 'session expired');
    const { id } = succeeded(answer);
    if (typeof id !== 'string' || id === '') throw unavailable('it named no principal');
    return { principalId: id };
  }

  async #post(path: string, body: object, requestId: string | undefined): Promise<ServiceResponse> {
    try {
      return await callService({ url: `${this.#endpoint}${path}`, body, timeoutMs, requestId });
    } catch (error) {
      throw unavailable(error instanceof Error ? error.message : String(error));
    }
  }
}

function succeeded({ status, body }: ServiceResponse): Readonly<Record<string, unknown>> {
  if (status === 400) {
    const message = body?.['message'];
    throw new AuthError('invalid', typeof message === 'string' ? message : 'bad request');
  }
  if (status !== 200 || body === undefined) throw unavailable(`it answered ${status}`);
  return body;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function unauthorized(): AuthError {
  return new AuthError('unauthenticated', 'Unauthorized');
}

/** Callers see an internal error; the cause is for the log. */
function unavailable(reason: string): AuthError {
  const cause = new Error(`the authentication service failed: ${reason}`);
  return new AuthError('unavailable', 'internal server error', { cause });
}
