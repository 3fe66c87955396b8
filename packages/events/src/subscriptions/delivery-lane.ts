import { hash } from 'node:crypto';
import type { EventData } from '@svc/encoding';
import { repositoryOf } from '../event.ts';

const lanes = 16;
const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Waits before the second attempt, the third, … After the last one an event is dead. */
export const retryWaits: readonly number[] = [
  5 * secondMs,
  30 * secondMs,
  2 * minuteMs,
  10 * minuteMs,
  hourMs,
  3 * hourMs,
  6 * hourMs,
  12 * hourMs,
  24 * hourMs,
];

/** Events of one lane are delivered one after the other: those about the same thing are in the same. */
export function laneOf(event: EventData, ordering: string): number {
  if (ordering === 'all') return 0;
  const [byte = 0] = hash('sha256', `${repositoryOf(event) ?? ''} ${event.subject}`, 'buffer');
  return byte % lanes;
}

/** Undefined: there is no further attempt. Spread, so that failures that came together do not come back together. */
export function waitAfter(
  attempts: number,
  retryAfterMs: number | undefined,
  random: number,
): number | undefined {
  const wait = retryWaits[attempts - 1];
  if (wait === undefined) return undefined;
  return Math.max(wait * (0.8 + 0.4 * random), retryAfterMs ?? 0);
}
