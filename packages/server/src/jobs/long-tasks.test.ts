import { EngineError, type Engine } from '@svc/engine';
import { expect, test } from 'vitest';
import type { Exchange } from '../processes/exchange.ts';
import { handOverLongTasks, takeLongTasks } from './long-tasks.ts';

/** Two processes: what one asks the other answers, as messages between them travel. */
function twoProcesses(): Exchange {
  let answer: ((payload: unknown) => unknown) | undefined;
  return {
    answer: (_, given) => (answer = given),
    tell() {},
    hear() {},
    rememberMetrics() {},
    async askOthers(_, payload) {
      const value: unknown = await answer?.(structuredClone(payload));
      return value === undefined ? [] : [structuredClone(value)];
    },
  };
}

const ran: string[] = [];

function engineNamed(name: string, submitDump?: () => Promise<string>): Engine {
  const submit = (task: string) => (repository: string) => Promise.resolve(`${name} ${task} ${repository}`);
  return {
    dumps: { submitDump: submitDump ?? submit('dumps') },
    gc: { submitPrepareCommits: submit('prepares') },
    imports: {
      accept: ({ repository }: { repository: string }) =>
        Promise.resolve({ id: `import into ${repository}` }),
      run: ({ id }: { id: string }) => {
        ran.push(`${name} runs ${id}`);
        return Promise.resolve(true);
      },
    },
  } as unknown as Engine;
}

test('long tasks that a worker is asked for run in the background process', async () => {
  const exchange = twoProcesses();
  await takeLongTasks(exchange, engineNamed('background'));
  const worker = await handOverLongTasks(exchange, engineNamed('worker'));
  expect(await worker.dumps.submitDump('repo')).toBe('background dumps repo');
  expect(await worker.gc.submitPrepareCommits('repo')).toBe('background prepares repo');
  const request = { repository: 'repo', branch: 'main', paths: [], actor: { committer: 'me' } };
  expect(await worker.imports.start(request)).toBe('import into repo');
  expect(ran).toEqual(['background runs import into repo']);
});

test('a worker does them itself while there is no background process, or when it fails', async () => {
  const exchange = twoProcesses();
  const worker = await handOverLongTasks(exchange, engineNamed('worker'));
  expect(await worker.dumps.submitDump('repo')).toBe('worker dumps repo');
  await takeLongTasks(
    exchange,
    engineNamed('background', () => Promise.reject(new Error('broken'))),
  );
  expect(await worker.dumps.submitDump('repo')).toBe('worker dumps repo');
});

test('a refusal arrives as it was', async () => {
  const exchange = twoProcesses();
  const refused = new EngineError('not_found', 'repository not found', { subject: 'repository' });
  await takeLongTasks(
    exchange,
    engineNamed('background', () => Promise.reject(refused)),
  );
  const worker = await handOverLongTasks(exchange, engineNamed('worker'));
  const error = await worker.dumps.submitDump('repo').catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(EngineError);
  expect(error).toMatchObject({ kind: 'not_found', message: 'repository not found', subject: 'repository' });
});
