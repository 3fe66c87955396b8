import type { Auth } from '@svc/auth';
import type { Metrics } from './metrics.ts';

/** Measures who is calling, whether they may, and logins. */
export function instrumentAuth(auth: Auth, metrics: Pick<Metrics, 'authDuration'>): Auth {
  function measured<A extends unknown[], R>(operation: string, call: (...args: A) => Promise<R>) {
    const success = metrics.authDuration.labels({ operation, success: 'success' });
    const failure = metrics.authDuration.labels({ operation, success: 'failure' });
    return async (...args: A): Promise<R> => {
      const started = performance.now();
      try {
        const result = await call(...args);
        success.observe((performance.now() - started) / 1000);
        return result;
      } catch (error) {
        failure.observe((performance.now() - started) / 1000);
        throw error;
      }
    };
  }
  const recognized = metrics.authDuration.labels({ operation: 'authenticate', success: 'success' });
  const allowed = metrics.authDuration.labels({ operation: 'authorize', success: 'success' });
  return {
    ...auth,
    authenticateAtOnce(headers, connection) {
      const started = performance.now();
      const identity = auth.authenticateAtOnce(headers, connection);
      if (identity !== undefined) recognized.observe((performance.now() - started) / 1000);
      return identity;
    },
    allowsAtOnce(identity, requirement, client) {
      const started = performance.now();
      const allows = auth.allowsAtOnce(identity, requirement, client);
      if (allows) allowed.observe((performance.now() - started) / 1000);
      return allows;
    },
    authenticate: measured('authenticate', (request) => auth.authenticate(request)),
    credentialsFor: measured('credentials', (accessKeyId, client) =>
      auth.credentialsFor(accessKeyId, client),
    ),
    ensureAllowed: measured('authorize', (identity, requirement, client) =>
      auth.ensureAllowed(identity, requirement, client),
    ),
    login: measured('login', (request) => auth.login(request)),
  };
}
