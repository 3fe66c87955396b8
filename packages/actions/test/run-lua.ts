import { expect } from 'vitest';
import { loadLuaModule } from '../src/lua/lua-module.ts';
import { ScriptInterpreter } from '../src/lua/script-interpreter.ts';
import type { HostAnswer, HostCall, LuaJob } from '../src/lua/worker-protocol.ts';

interface Result {
  readonly output: string;
  readonly failure: string | undefined;
}

/** Runs a script in this thread, without limits. */
export async function run(
  source: string,
  job: Partial<LuaJob> & { readonly netHttpEnabled?: boolean } = {},
  answer: (call: HostCall) => HostAnswer = () => ({ error: 'nobody is asked' }),
): Promise<Result> {
  let output = '';
  const { netHttpEnabled = false, ...given } = job;
  const failure = new ScriptInterpreter(await loadLuaModule(), { netHttpEnabled }).run(
    {
      source: Buffer.from(source).toString('latin1'),
      args: {},
      action: {},
      username: 'ada',
      deadline: undefined,
      outputLimit: 1024 ** 2,
      exportPrefix: '_svc/exported',
      ...given,
    },
    {
      ask(call) {
        const answered = answer(call);
        if ('error' in answered) throw new Error(answered.error);
        return answered;
      },
      print: (bytes) => (output += Buffer.from(bytes, 'latin1').toString()),
      onTick() {},
    },
  );
  return { output, failure };
}

/** What a script prints that must pass. */
export async function printed(source: string, job: Partial<LuaJob> = {}): Promise<string> {
  const { output, failure } = await run(source, job);
  expect(failure).toBeUndefined();
  return output;
}
