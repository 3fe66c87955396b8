import { setTimeout as delay } from 'node:timers/promises';

/** Tries of a write or a head update before it gives up. */
export const maxTries = 10;

/** Between tries of a staged write: 5 to 50 ms. */
export async function pauseBetweenWrites(): Promise<void> {
  await delay(5 + Math.random() * 45);
}

/**
 * Between tries of a head update after `lost` lost races: short at first, because the in-process queue leaves only
 * other servers as rivals, then exponential with jitter up to 5 s.
 */
export async function pauseBetweenHeadUpdates(lost: number): Promise<void> {
  const base = Math.min(5000, 10 * 2 ** lost);
  await delay(base * (0.5 + Math.random()));
}
