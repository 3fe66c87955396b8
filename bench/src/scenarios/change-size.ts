import { median, timed } from '../driver/api.ts';
import { commit, createBranch, randomKey, stageMany, type Bench } from './bench.ts';

const rounds = 3;

export interface ChangeSize {
  readonly changes: number;
  readonly milliseconds: number;
}

/** How commit time follows the number of changes, spread over the same tree. */
export async function measureChangeSizes(bench: Bench): Promise<ChangeSize[]> {
  const { requests, report } = bench;
  const sizes: ChangeSize[] = [];
  await createBranch(bench, 'sizes');
  for (const changes of [1, 10, 100, 1000, 10_000]) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await stageMany(bench, changes, (sequence) =>
        requests.stage('sizes', `${randomKey(bench)}.${changes}.${round}.${sequence}`),
      );
      times.push((await timed(() => commit(bench, 'sizes'))).milliseconds);
    }
    sizes.push({ changes, milliseconds: median(times) });
    report.add({
      scenario: `commit, changes all over the tree: ${changes}`,
      value: median(times),
      unit: 'ms',
    });
  }
  return sizes;
}
