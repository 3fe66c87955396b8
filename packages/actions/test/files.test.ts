import { BlockStores, createMemAdapter, type BlockAdapter } from '@svc/block';
import { createMemStore, type MemState } from '@svc/kv';
import { expect, test } from 'vitest';
import { openHouse, type House } from './house.ts';
import { house, lua, manifestOf, receiver, webhook } from './kit.ts';

/** A store in memory that counts what is put below the logs of runs, and refuses it while it is told to. */
function countingBlocks() {
  const counted = { puts: 0, refuses: false };
  const adapter: BlockAdapter = new Proxy(createMemAdapter({}), {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const pointer = args[0] as { identifier?: string } | undefined;
        if (name === 'put' && pointer?.identifier?.includes('/actions/log/') === true) {
          counted.puts += 1;
          if (counted.refuses) return Promise.reject(new Error('the store is away'));
        }
        return Reflect.apply(value, target, args);
      };
    },
  });
  return { counted, blocks: new BlockStores([adapter]) };
}

async function action(): Promise<string> {
  const { url } = await receiver();
  return webhook('says it', '{pre-commit: }', url);
}

async function waitingKeys(state: MemState): Promise<number> {
  let count = 0;
  const options = { prefix: Buffer.from('files/') };
  for await (const page of createMemStore(state).scan(Buffer.from('actions'), options)) count += page.length;
  return count;
}

async function onlyRun(at: House): Promise<string> {
  const [run, ...others] = await at.runs();
  expect(others).toEqual([]);
  return run?.runId ?? '';
}

test('a commit does not wait for the files of its run: the log is read at once, and written later', async () => {
  const { counted, blocks } = countingBlocks();
  const at = await house({ blocks });
  await at.put('_svc_actions/a.yaml', await action());
  counted.refuses = true;
  await at.commit();
  expect(counted.puts).toBe(0);
  const runId = await onlyRun(at);
  const repository = await at.engine.repositories.get('repo');
  const log = async (by: House): Promise<string | undefined> =>
    (await by.hooks.readLog(repository, runId, '0000_0000'))?.bytes?.toString();
  expect(await log(at)).toContain('200 OK');

  // A store that is away keeps nobody from committing, and nothing is lost.
  await at.hooks.writeFiles();
  expect(at.logged.join()).toContain('could not be written; trying again later');
  expect(await waitingKeys(at.state)).toBe(1);
  counted.refuses = false;

  // Another server does it as well as the first.
  const other = await openHouse({ state: at.state, blocks });
  await other.hooks.writeFiles();
  await other.close();
  expect(await waitingKeys(at.state)).toBe(0);
  expect(await log(at)).toContain('200 OK');
  expect(await manifestOf(at, repository, runId)).toMatchObject({ run: { run_id: runId, passed: true } });
  const { puts } = counted;
  await at.hooks.writeFiles();
  expect(counted.puts).toBe(puts);
});

test('long logs are in the namespace before the commit', async () => {
  const { counted, blocks } = countingBlocks();
  const at = await house({ blocks });
  await at.put(
    '_svc_actions/a.yaml',
    lua('says much', '{pre-commit: }', ['one1', 'print(("x"):rep(200000))']),
  );
  await at.commit();
  expect(counted.puts).toBe(2);
  expect(await waitingKeys(at.state)).toBe(0);
});

test('the files of a repository that was deleted are not written', async () => {
  const { counted, blocks } = countingBlocks();
  const at = await house({ blocks });
  await at.put('_svc_actions/a.yaml', await action());
  await at.commit();
  await at.engine.repositories.delete({ repository: 'repo', actor: at.actor });
  await at.engine.repositories.create({ name: 'repo', storageNamespace: 'mem://again', actor: at.actor });
  await at.hooks.writeFiles();
  expect(counted.puts).toBe(0);
  expect(await waitingKeys(at.state)).toBe(0);
});
