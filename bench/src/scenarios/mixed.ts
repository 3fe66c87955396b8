import { runMix } from '../driver/http-load.ts';
import { createBranch, randomKey, type Bench } from './bench.ts';

/** Everyday calls all at once: mostly stats, some pages, writes and reads. */
export async function measureMixed(bench: Bench): Promise<void> {
  const { api, requests, report, connections, seconds } = bench;
  await createBranch(bench, 'mixed');
  const kinds = [
    { kind: 'stat', share: 70, next: () => requests.stat('main', randomKey(bench)) },
    { kind: 'list 100', share: 15, next: () => requests.list('main', randomKey(bench), 100) },
    {
      kind: 'stage write',
      share: 10,
      next: (sequence: number) => requests.stage('mixed', `${randomKey(bench)}.${sequence}`),
    },
    { kind: 'object get', share: 5, next: () => requests.get('main', randomKey(bench)) },
  ];
  const results = await runMix({ endpoint: api.endpoint, connections, seconds }, kinds);
  report.add({
    scenario: 'mixed load, all kinds',
    value: results.reduce((sum, { perSecond }) => sum + perSecond, 0),
    unit: '/s',
  });
  for (const [index, { perSecond, p50, p99, errors }] of results.entries()) {
    const scenario = `mixed load: ${kinds[index]?.kind ?? ''}`;
    report.add({ scenario, value: perSecond, unit: '/s', p50, p99, errors });
  }
}
