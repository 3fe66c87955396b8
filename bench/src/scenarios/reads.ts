import { load, randomKey, type Bench } from './bench.ts';

/** Stat and list of committed objects, at random places. */
export async function measureReads(bench: Bench): Promise<void> {
  await measureStat(bench);
  await measureList(bench, { amount: 1000, goal: 900, p99Goal: 200 });
  await measureList(bench, { amount: 100, goal: 6000 });
}

export async function measureStat(bench: Bench): Promise<void> {
  const next = (): string => bench.requests.stat('main', randomKey(bench));
  await load(bench, { scenario: 'stat, committed', goal: 15_000, p99Goal: 15, next });
}

interface Pages {
  readonly amount: number;
  readonly goal?: number;
  readonly p99Goal?: number;
}

export async function measureList(bench: Bench, { amount, ...goals }: Pages): Promise<void> {
  const next = (): string => bench.requests.list('main', randomKey(bench), amount);
  await load(bench, { scenario: `list, ${amount} entries a page`, ...goals, next });
}
