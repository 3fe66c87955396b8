import { setTimeout as delay } from 'node:timers/promises';
import { Latencies } from './latencies.ts';

export interface Pace {
  readonly perSecond: number;
  readonly seconds: number;
}

/** Begins work at a steady rate, whether earlier work has ended or not. */
export async function steadily(
  { perSecond, seconds }: Pace,
  work: (index: number) => Promise<unknown>,
): Promise<Latencies> {
  const latencies = new Latencies();
  const timed = async (index: number): Promise<void> => {
    const began = performance.now();
    await work(index);
    latencies.record(performance.now() - began);
  };
  const running: Promise<void>[] = [];
  const start = performance.now();
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const wait = start + (index * 1000) / perSecond - performance.now();
    if (wait > 0) await delay(wait);
    running.push(timed(index));
  }
  await Promise.all(running);
  return latencies;
}
