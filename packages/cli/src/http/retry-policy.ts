export interface RetryPolicy {
  /** Tries in all; 1 switches retries off. */
  readonly attempts: number;
  readonly minWaitMs: number;
  readonly maxWaitMs: number;
}

export const noRetries: RetryPolicy = { attempts: 1, minWaitMs: 0, maxWaitMs: 0 };

/** A gateway's 502 and 504 are final: nobody knows what became of the request. */
const passing: ReadonlySet<number> = new Set([429, 500, 503]);
/** The request was turned away before anything was done. */
const refused: ReadonlySet<number> = new Set([429, 503]);

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

export function mayRepeatStatus(status: number, once: boolean): boolean {
  return once ? refused.has(status) : passing.has(status);
}

export function mayRepeatError(error: unknown): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return name !== 'AbortError' && !untrusted.has(String(code));
}

/** 0.2, 0.4, 0.8, 1.6 s by default; the server's own wish comes first. */
export function waitBefore(policy: RetryPolicy, attempt: number, retryAfter: string | undefined): number {
  const asked = retryAfter === undefined ? undefined : parseRetryAfter(retryAfter, Date.now());
  return asked ?? Math.min(policy.maxWaitMs, policy.minWaitMs * 2 ** (attempt - 1));
}

/** Milliseconds of a `Retry-After` in seconds or as a date. */
export function parseRetryAfter(text: string, now: number): number | undefined {
  if (/^\d+$/.test(text.trim())) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Writes that must not happen twice: repeating a commit that went through answers "no changes". */
export function isOnceOnly(method: string, path: string): boolean {
  return method === 'POST' && /\/(commits|revert|cherry-pick|import|merge\/[^/]+)$/.test(path);
}
