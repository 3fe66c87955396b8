import { load, randomKey, type Bench } from './bench.ts';

/** Stat and list of committed objects, at random places. */
export async function measureReads(bench: Bench): Promise<void> {
  const { api, repository } = bench;
  const headers = { authorization: api.authorization };
  const ref = `/api/v1/repositories/${repository}/refs/main/objects`;
  await load(bench, {
    scenario: 'stat, committed',
    goal: 15_000,
    next: () => ({
      method: 'GET',
      target: `${ref}/stat?path=${encodeURIComponent(randomKey(bench))}`,
      headers,
    }),
  });
  for (const [amount, goal] of [
    [1000, 900],
    [100, 6000],
  ] as const) {
    await load(bench, {
      scenario: `list, ${amount} entries a page`,
      goal,
      next: () => ({
        method: 'GET',
        target: `${ref}/ls?amount=${amount}&after=${encodeURIComponent(randomKey(bench))}`,
        headers,
      }),
    });
  }
}
