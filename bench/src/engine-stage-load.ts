// One process of the engine benchmark: opens the stores others have open, stages when told, answers with what it did.
import { join } from 'node:path';
import { openBenchEngine } from './bench-engine.ts';

export interface StageLoad {
  readonly folder: string;
  readonly repository: string;
  readonly branch: string;
  readonly writers: number;
  readonly seconds: number;
}

export interface StagedAnswer {
  /** All it staged, the warm-up included. */
  readonly staged: number;
  readonly perSecond: number;
  readonly cpuMicros: number;
}

process.once('message', (load: StageLoad) => {
  void run(load);
});

async function run({ folder, repository, branch, writers, seconds }: StageLoad): Promise<void> {
  const outside = join(folder, 'outside');
  const opened = await openBenchEngine({
    metadata: join(folder, 'kv'),
    block: join(folder, 'objects'),
    cache: join(folder, 'cache'),
    allowedExternalPrefixes: [outside],
  });
  let calls = 0;
  const stageUntil = async (until: number): Promise<void> => {
    while (performance.now() < until) {
      calls += 1;
      await opened.engine.objects.stage({
        repository,
        branch,
        path: `s/${Math.floor(Math.random() * 1e9)}.${process.pid}.${calls}`,
        physicalAddress: `local://${outside}/d0000/f0001`,
        checksum: '0123456789abcdef0123456789abcdef',
        size: 1234,
      });
    }
  };
  const all = async (length: number): Promise<void> => {
    const until = performance.now() + length * 1000;
    await Promise.all(Array.from({ length: writers }, () => stageUntil(until)));
  };
  await all(1);
  const warmUp = calls;
  calls = 0;
  const cpu = process.cpuUsage();
  const start = performance.now();
  await all(seconds);
  const { user, system } = process.cpuUsage(cpu);
  const answer: StagedAnswer = {
    staged: warmUp + calls,
    perSecond: calls / ((performance.now() - start) / 1000),
    cpuMicros: (user + system) / calls,
  };
  process.send?.(answer);
  await opened.close();
  process.disconnect?.();
}
