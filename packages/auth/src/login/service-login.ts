import type { AuthOptions, ExternalPrincipalLogin, Session, SessionOrigin, StsLogin } from '../auth.ts';
import { AuthError } from '../errors.ts';
import type { RbacMode, User } from '../model.ts';
import type { CallerCache } from './caller-cache.ts';
import type { LoginTokens } from './login-tokens.ts';

const defaultStsSeconds = 3600;
const maxStsSeconds = 43_200;

export interface ServiceLoginOptions {
  readonly mode: RbacMode;
  readonly authenticationService?: AuthOptions['authenticationService'];
  readonly loginDurationMs: number;
  readonly tokens: LoginTokens;
  readonly callers: CallerCache;
  readonly findUser: (by: { readonly externalId: string }) => Promise<User | undefined>;
  /** Puts the session on record. */
  readonly begin: (session: Session, origin: SessionOrigin) => Promise<void>;
}

/** Logins that the external authentication service vouches for. */
export function loginByService(options: ServiceLoginOptions): {
  sts(request: StsLogin): Promise<Session>;
  externalPrincipal(request: ExternalPrincipalLogin): Promise<Session>;
} {
  const { authenticationService: service, tokens, callers } = options;
  const begin = async (user: User, durationMs: number, origin: SessionOrigin): Promise<Session> => {
    const session = tokens.issue(user, durationMs);
    await options.begin(session, origin);
    return session;
  };
  return {
    async sts(request) {
      if (service === undefined) throw notAvailable('auth.authentication_api.endpoint is not set');
      const seconds = request.ttlSeconds ?? defaultStsSeconds;
      if (!(seconds > 0)) throw new AuthError('invalid', 'ttl_seconds must be greater than 0');
      const { externalId } = await service.stsLogin(request);
      const user = await options.findUser({ externalId });
      if (user === undefined) throw new AuthError('not_found', 'user not found');
      return begin(user, Math.min(seconds, maxStsSeconds) * 1000, request.origin);
    },
    async externalPrincipal(request) {
      const verify = service?.verifyPrincipal;
      if (verify === undefined || options.mode === 'simplified') {
        throw notAvailable('external principals are not enabled');
      }
      const { principalId } = await verify(request);
      const principal = await callers.externalPrincipal(principalId);
      const user = principal === undefined ? undefined : await callers.user(principal.username);
      if (user === undefined) throw new AuthError('not_found', 'external principal not found');
      const requested = (request.durationSeconds ?? 0) * 1000;
      return begin(user, requested > 0 ? requested : options.loginDurationMs, request.origin);
    },
  };
}

function notAvailable(reason: string): AuthError {
  return new AuthError('not_implemented', `Not Implemented: ${reason}`);
}
