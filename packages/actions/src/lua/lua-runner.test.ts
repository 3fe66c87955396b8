import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { LuaRunner, type ScriptRun } from './lua-runner.ts';
import type { HostAnswer, HostCall, LuaJob } from './worker-protocol.ts';

const memoryBytes = 64 * 1024 ** 2;
const runner = new LuaRunner({ memoryBytes, netHttpEnabled: false, maxRunning: 4 });
afterAll(() => runner.close());

interface Result {
  readonly output: string;
  readonly failure: string | undefined;
}

async function run(
  source: string,
  job: Partial<LuaJob> = {},
  answer: (call: HostCall) => HostAnswer | Promise<HostAnswer> = () => ({ error: 'nobody is asked' }),
  by = runner,
  signal = new AbortController().signal,
): Promise<Result> {
  const printed: Buffer[] = [];
  const start = (): ScriptRun => ({
    job: {
      source: Buffer.from(source).toString('latin1'),
      args: {},
      action: {},
      username: 'ada',
      deadline: Date.now() + 20_000,
      outputLimit: 1024 ** 2,
      exportPrefix: '_svc/exported',
      ...job,
    },
    signal,
    answer: async (call) => answer(call),
    print: (bytes) => printed.push(Buffer.from(bytes)),
  });
  const failure = await by.run(start).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
  return { output: Buffer.concat(printed).toString(), failure };
}

test('an endless script ends with its time, however it defends itself', async () => {
  for (const source of [
    'while true do end',
    'while true do pcall(function() while true do end end) end',
    'while true do xpcall(function() error("x") end, function() while true do end end) end',
    'string.rep("a", 30):match(("a?"):rep(30) .. ("a"):rep(30))',
    'require("time").sleep(1e18)',
    'setmetatable({}, {__gc = function() while true do end end}) collectgarbage()',
  ]) {
    const { failure } = await run(source, { deadline: Date.now() + 300 });
    expect(failure, source).toBe('time limit exceeded');
  }
});

test('a script that wants too much memory is told so, and the process keeps its own', async () => {
  expect((await run('return string.rep("x", 1e9)')).failure).toBe('not enough memory');
  const grows = 'local t = {} for i = 1, 1e9 do t[i] = {i} end';
  expect((await run(grows)).failure).toBe('not enough memory');
});

test('output arrives in order and ends at the limit', async () => {
  const script = 'for i = 1, 50000 do print("0123456789") end';
  const { output, failure } = await run(script, { outputLimit: 100_000 });
  expect(failure).toBeUndefined();
  // One byte more, so that whoever keeps it sees that there was more.
  expect(output).toBe('0123456789\n'.repeat(10_000).slice(0, 100_001));
});

test('nothing of a script is left for the next one in the same thread', async () => {
  const alone = new LuaRunner({ memoryBytes, netHttpEnabled: false, maxRunning: 1 });
  const leaves = `
    secret = "left"
    string.secret, getmetatable("").secret = "left", "left"
    package.loaded["encoding/json"] = "left"
    package.preload.mine = function() return "left" end
    require("strings").secret = "left"
    _G.print = nil
    args.secret, action.secret = "left", "left"`;
  const looks = `
    print(tostring(secret), tostring(string.secret), tostring(getmetatable("").secret),
      type(require("encoding/json")), pcall(require, "mine") and "left" or "none",
      tostring(require("strings").secret), tostring(args.secret), tostring(action.secret))`;
  try {
    const cleanly = 'nil\tnil\tnil\ttable\tnone\tnil\tnil\tnil\n';
    expect((await run(looks, {}, undefined, alone)).output).toBe(cleanly);
    expect((await run(leaves, {}, undefined, alone)).failure).toBeUndefined();
    // What a script wants done when its values are forgotten is forgotten with them.
    const waits = 'held = setmetatable({}, {__gc = function() print("left") end})';
    expect(await run(waits, {}, undefined, alone)).toEqual({ output: '', failure: undefined });
    expect((await run(looks, {}, undefined, alone)).output).toBe(cleanly);
    // After a failure, too, and after memory was filled.
    expect((await run(`${leaves} error("x")`, {}, undefined, alone)).failure).toContain('x');
    await run('local t = {} for i = 1, 1e5 do t[i] = "left" .. i end', {}, undefined, alone);
    expect((await run(looks, {}, undefined, alone)).output).toBe(cleanly);
    // Each has all of the memory.
    const fills = 'held = string.rep("x", 12 * 1024 * 1024)';
    for (let i = 0; i < 6; i += 1) expect((await run(fills, {}, undefined, alone)).failure).toBeUndefined();
    expect(alone.threadsStarted).toBe(1);
    expect((await run('string.rep("x", 1e9)', {}, undefined, alone)).failure).toBe('not enough memory');
    expect((await run(looks, {}, undefined, alone)).output).toBe(cleanly);
    expect(alone.threadsStarted).toBe(2);
  } finally {
    await alone.close();
  }
});

test('quick scripts share threads; those that wait have one each', async () => {
  const fresh = new LuaRunner({ memoryBytes, netHttpEnabled: false, maxRunning: 6 });
  try {
    const quick = Array.from({ length: 6 }, () => run('print(1)', {}, undefined, fresh));
    for (const { output } of await Promise.all(quick)) expect(output).toBe('1\n');
    expect(fresh.threadsStarted).toBeLessThan(6);
    const answer = Promise.withResolvers<HostAnswer>();
    let asked = 0;
    const asks = 'print((require("svc").get_object("r", "main", "a")))';
    const waiting = Array.from({ length: 3 }, () =>
      run(asks, {}, () => ((asked += 1), answer.promise), fresh),
    );
    await expect.poll(() => asked, { timeout: 20_000 }).toBe(3);
    answer.resolve({ status: 200, statusText: '', rawHeaders: [], body: Buffer.alloc(0) });
    for (const { output } of await Promise.all(waiting)) expect(output).toBe('200\n');
  } finally {
    await fresh.close();
  }
});

/** How many threads of this process have the lowest priority. */
function lowThreads(): number {
  const tasks = readdirSync('/proc/self/task');
  const niceOf = (task: string): string | undefined => {
    try {
      return readFileSync(`/proc/self/task/${task}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[16];
    } catch {
      // It has ended since.
      return undefined;
    }
  };
  return tasks.filter((task) => niceOf(task) === '19').length;
}

test.runIf(process.platform === 'linux')(
  'a script that computes for long runs when nobody else wants to; one that waits keeps its priority',
  async () => {
    const computing = new AbortController();
    const waiting = Promise.withResolvers<HostAnswer>();
    const asked = Promise.withResolvers<void>();
    const isAsked = (): Promise<HostAnswer> => {
      asked.resolve();
      return waiting.promise;
    };
    const waits = run('require("svc").get_object("r", "main", "a")', {}, isAsked);
    await asked.promise;
    const endless = run('while true do end', {}, undefined, runner, computing.signal);
    await expect.poll(lowThreads, { timeout: 20_000 }).toBe(1);
    waiting.resolve({ status: 200, statusText: '', rawHeaders: [], body: Buffer.alloc(0) });
    expect((await waits).failure).toBeUndefined();
    expect(lowThreads()).toBe(1);
    computing.abort();
    expect((await endless).failure).toBe('the server stopped while the hook ran');
    await expect.poll(lowThreads, { timeout: 20_000 }).toBe(0);
  },
);
