import { createMemStore, MemState } from '@svc/kv';
import { expect, test } from 'vitest';
import type { Run, Task } from './run.ts';
import { RunStore } from './run-store.ts';

const time = { seconds: 1, nanos: 0 };
const run: Run = {
  runId: 'run1',
  branchId: 'main',
  sourceRef: 'main',
  eventType: 'pre-commit',
  commitId: 'c1',
  startTime: time,
  endTime: time,
  passed: true,
};

test('a run may have more hooks than are written at once', async () => {
  const runs = new RunStore(createMemStore(new MemState()));
  const tasks = Array.from({ length: 250 }, (_, index): Task => ({
    runId: run.runId,
    hookRunId: `0000_${String(index).padStart(4, '0')}`,
    hookId: `hook${index}`,
    actionName: 'many',
    startTime: time,
    endTime: time,
    passed: true,
  }));
  await runs.add('repo', run, tasks);
  const found = await runs.listTasks({ repository: 'repo', runId: run.runId, amount: 1000 });
  expect(found.items.map(({ hookId }) => hookId)).toEqual(tasks.map(({ hookId }) => hookId));
  expect(await runs.get('repo', run.runId)).toEqual(run);
});

test('a run whose commit came to nothing is found by its branch only', async () => {
  const runs = new RunStore(createMemStore(new MemState()));
  await runs.add('repo', run, []);
  const ofCommit = async () => (await runs.list({ repository: 'repo', commit: 'c1' })).items.length;
  expect(await ofCommit()).toBe(1);
  const changed: Run[] = [];
  const withdraw = (runId: string): Promise<void> =>
    runs.withoutCommit('repo', runId, (without) => {
      changed.push(without);
      return Promise.resolve(undefined);
    });
  await withdraw(run.runId);
  expect(changed).toEqual([{ ...run, commitId: '' }]);
  expect(await ofCommit()).toBe(0);
  expect((await runs.list({ repository: 'repo', branch: 'main' })).items).toEqual([{ ...run, commitId: '' }]);
  await withdraw('unknown');
  expect(changed).toHaveLength(1);
});
