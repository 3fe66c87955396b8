export interface RetrySettings {
  /** Tries in all; 1 switches retries off. */
  readonly attempts: number;
  /** Wait before the second try; doubles each time, with jitter. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
}

export const defaultRetry: RetrySettings = { attempts: 4, baseDelayMs: 100, maxDelayMs: 5000 };

const retryableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Sends a request that may be sent again: on a broken connection or a passing refusal it waits and repeats.
 * `send` must build a fresh request each time.
 */
export async function withRetries(
  settings: RetrySettings,
  send: () => Promise<Response>,
  signal?: AbortSignal | null,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const last = attempt >= settings.attempts;
    try {
      const response = await send();
      if (last || !retryableStatuses.has(response.status)) return response;
      await response.body?.cancel();
      await pause(delayOf(settings, attempt, response.headers.get('retry-after')), signal);
    } catch (error) {
      if (last || signal?.aborted === true) throw error;
      await pause(delayOf(settings, attempt, null), signal);
    }
  }
}

function delayOf(settings: RetrySettings, attempt: number, retryAfter: string | null): number {
  const asked = Number(retryAfter ?? Number.NaN) * 1000;
  if (asked >= 0) return Math.min(asked, settings.maxDelayMs);
  const full = Math.min(settings.baseDelayMs * 2 ** (attempt - 1), settings.maxDelayMs);
  return full / 2 + (Math.random() * full) / 2;
}

function pause(milliseconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
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
