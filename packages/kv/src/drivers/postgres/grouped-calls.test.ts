import { expect, test } from 'vitest';
import { GroupedCalls } from './grouped-calls.ts';

/** Groups end when the test says so. */
function held(options: { maxUnderWay?: number; maxGroup?: number; keyed?: boolean } = {}) {
  const groups: { calls: readonly string[]; end: (error?: Error) => void }[] = [];
  const grouped = new GroupedCalls<string, string>({
    maxUnderWay: options.maxUnderWay ?? 1,
    maxGroup: options.maxGroup ?? 10,
    compare: options.keyed === true ? (a, b) => a.charCodeAt(0) - b.charCodeAt(0) : undefined,
    atEndOfTurn: setImmediate,
    mayRunAlone: (error) => (error as Error).message === 'collision',
    run: (calls) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error): void => {
          if (error === undefined) resolve(calls.map((call) => `done ${call}`));
          else reject(error);
        };
        groups.push({ calls, end });
      }),
  });
  /** What a turn brings may leave in the next. */
  const turn = async (): Promise<void> => {
    for (let n = 0; n < 2; n += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const end = async (index: number, error?: Error): Promise<void> => {
    groups[index]?.end(error);
    await turn();
  };
  /** Calls one after the other, the first alone. */
  const callAll = async (...calls: string[]): Promise<Promise<string>[]> => {
    const [first = '', ...others] = calls;
    const answers = [grouped.call(first)];
    await turn();
    answers.push(...others.map((call) => grouped.call(call)));
    await turn();
    return answers;
  };
  return { grouped, groups, end, callAll, turn };
}

test('a lone call goes out in its turn; those that come meanwhile go together, in order', async () => {
  const { grouped, groups, end, callAll, turn } = held();
  const answers = await callAll('a', 'b', 'c');
  expect(groups.map(({ calls }) => calls)).toEqual([['a']]);
  await end(0);
  expect(groups.map(({ calls }) => calls)).toEqual([['a'], ['b', 'c']]);
  await end(1);
  expect(await Promise.all(answers)).toEqual(['done a', 'done b', 'done c']);
  void grouped.call('d');
  await turn();
  expect(groups.at(-1)?.calls).toEqual(['d']);
});

test('calls of one turn leave together, also those of whom was answered in it', async () => {
  const { grouped, groups, end, turn } = held({ maxUnderWay: 2 });
  const twice = async (call: string): Promise<string> => {
    await grouped.call(`${call}1`);
    return await grouped.call(`${call}2`);
  };
  const answers = ['a', 'b', 'c'].map(twice);
  await turn();
  await end(0);
  expect(groups.map(({ calls }) => calls)).toEqual([
    ['a1', 'b1', 'c1'],
    ['a2', 'b2', 'c2'],
  ]);
  await end(1);
  expect(await Promise.all(answers)).toEqual(['done a2', 'done b2', 'done c2']);
});

test('calls that several callbacks of one turn make leave together', async () => {
  const { grouped, groups, turn } = held();
  void grouped.call('a');
  await new Promise((resolve) => process.nextTick(resolve));
  void grouped.call('b');
  await turn();
  expect(groups.map(({ calls }) => calls)).toEqual([['a', 'b']]);
});

test('groups have a size, and so many are under way', async () => {
  const { groups, end, callAll } = held({ maxUnderWay: 2, maxGroup: 1 });
  void (await callAll('a', 'b', 'c', 'd'));
  expect(groups.map(({ calls }) => calls)).toEqual([['a'], ['b']]);
  await end(1);
  expect(groups.map(({ calls }) => calls)).toEqual([['a'], ['b'], ['c']]);
});

test('calls of one key never share a group, and none is left behind', async () => {
  const { groups, end, callAll } = held({ keyed: true });
  const answers = await callAll('a1', 'b1', 'b2', 'c1', 'b3');
  for (let index = 0; index < 4; index += 1) await end(index);
  expect(groups.map(({ calls }) => calls)).toEqual([['a1'], ['b1', 'c1'], ['b2'], ['b3']]);
  expect(await Promise.all(answers)).toHaveLength(5);
});

test('many calls of one key keep those of others from no group', async () => {
  const { groups, end, callAll } = held({ keyed: true, maxGroup: 3 });
  void (await callAll('a1', 'b1', 'b2', 'b3', 'b4', 'c1', 'd1', 'e1'));
  for (let index = 0; index < 5; index += 1) await end(index);
  expect(groups.map(({ calls }) => calls)).toEqual([
    ['a1'],
    ['b1', 'c1', 'd1'],
    ['b2', 'e1'],
    ['b3'],
    ['b4'],
  ]);
});

test('what collided is tried one by one, what failed otherwise fails for all', async () => {
  const { groups, end, callAll } = held();
  const answers = Promise.allSettled(await callAll('a', 'b', 'c'));
  await end(0);
  await end(1, new Error('collision'));
  await end(2);
  await end(3, new Error('collision'));
  expect(groups.map(({ calls }) => calls)).toEqual([['a'], ['b', 'c'], ['b'], ['c']]);
  expect(await answers).toMatchObject([
    { value: 'done a' },
    { value: 'done b' },
    { reason: { message: 'collision' } },
  ]);
  const others = Promise.allSettled(await callAll('d', 'e', 'f'));
  await end(4);
  await end(5, new Error('broken'));
  expect(groups).toHaveLength(6);
  expect(await others).toMatchObject([
    { value: 'done d' },
    { reason: { message: 'broken' } },
    { reason: { message: 'broken' } },
  ]);
});
