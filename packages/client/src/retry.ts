import { ConnectionError } from './errors.ts';

export interface RetrySettings {
  /** Tries in all; 1 switches retries off. */
  readonly attempts: number;
  /** Wait before the second try; doubles each time. */
  readonly minWaitMs: number;
  readonly maxWaitMs: number;
  /** Waits are shortened by up to a half at random, so that many clients do not come back at once. */
  readonly jitter: boolean;
  /** The longest `Retry-After` that is waited for; an answer that asks for more is final. */
  readonly maxRetryAfterMs: number;
}

export const defaultRetry: RetrySettings = {
  attempts: 4,
  minWaitMs: 100,
  maxWaitMs: 5000,
  jitter: true,
  maxRetryAfterMs: 30_000,
};

/** The server turned the request away before it did anything. */
const turnedAway: ReadonlySet<number> = new Set([429, 503]);

/** Trying again cannot help against an untrusted certificate. */
const untrusted: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * After 429 and 503 every request may be sent again. After 500 only one that may happen twice. A gateway's 502 and
 * 504 are final: nobody knows what became of the request.
 */
export function mayRepeatStatus(status: number, idempotent: boolean): boolean {
  return turnedAway.has(status) || (idempotent && status === 500);
}

/** After a broken connection: a request that may happen twice, or one the server did not receive. */
export function mayRepeatError(error: unknown, idempotent: boolean): error is ConnectionError {
  if (!(error instanceof ConnectionError)) return false;
  const { code } = (error.cause ?? {}) as { code?: unknown };
  return (idempotent || !error.sent) && !untrusted.has(String(code));
}

/** The wait after a failed try; undefined when the server asks for a longer one than the caller accepts. */
export function waitAfter(
  settings: RetrySettings,
  attempt: number,
  retryAfter: string | undefined,
): number | undefined {
  const asked = retryAfter === undefined ? undefined : parseRetryAfter(retryAfter, Date.now());
  if (asked !== undefined) return asked <= settings.maxRetryAfterMs ? asked : undefined;
  const full = Math.min(settings.maxWaitMs, settings.minWaitMs * 2 ** (attempt - 1));
  return settings.jitter ? full / 2 + (Math.random() * full) / 2 : full;
}

/** Milliseconds of a `Retry-After` in seconds or as a date. */
export function parseRetryAfter(text: string, now: number): number | undefined {
  if (/^\d+$/.test(text.trim())) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    function stop(): void {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    }
    signal?.addEventListener('abort', stop, { once: true });
  });
}
