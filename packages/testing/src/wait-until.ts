import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  readonly timeoutMs?: number;
  readonly what?: string;
}

/** Polls until `probe` answers something truthy; errors of the probe count as "not yet". */
export async function waitUntil<T>(
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  options: WaitOptions = {},
): Promise<T> {
  const deadline = Date.now() + (options.timeoutMs ?? 20_000);
  let last: unknown;
  for (;;) {
    try {
      const answer = await probe();
      if (answer) return answer;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) {
      throw new Error(`gave up waiting for ${options.what ?? 'a condition'}`, { cause: last });
    }
    await delay(20);
  }
}
