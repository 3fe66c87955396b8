import type { loadLuaModule } from './lua-module.ts';
import { LuaState, type LuaFailure } from './lua-state.ts';
import { bytesOf, host, luaOf, packageOf, textOf, type HostFunction, type LuaValue } from './lua-value.ts';
import { moduleSource } from './modules/index.ts';
import { packagesFor } from './packages/index.ts';
import type { Ask } from './packages/svc.ts';
import { prelude } from './prelude.ts';
import type { LuaJob } from './worker-protocol.ts';

/** What a script writes and asks. */
export interface ScriptSurroundings {
  readonly ask: Ask;
  /** Bytes, one per character. */
  readonly print: (bytes: string) => void;
  /** Now and then while the script runs. */
  readonly onTick: () => void;
}

const overMessage = 'time limit exceeded';

/** The interpreter's code with its memory. */
export type LoadedLua = Awaited<ReturnType<typeof loadLuaModule>>;

/** Runs the script of a hook in a state of its own. Why it failed, or undefined when it passed. */
export function runScript(lua: LoadedLua, job: LuaJob, surroundings: ScriptSurroundings): string | undefined {
  const isOver = (): boolean => job.deadline !== undefined && Date.now() >= job.deadline;
  const state = new LuaState(lua, {
    onTick() {
      surroundings.onTick();
      return isOver() ? overMessage : undefined;
    },
  });
  try {
    return runIn(state, job, surroundings, isOver);
  } finally {
    state.close();
  }
}

function runIn(
  state: LuaState,
  job: LuaJob,
  surroundings: ScriptSurroundings,
  isOver: () => boolean,
): string | undefined {
  let failMessage: string | undefined;
  const packages = packagesFor({ ask: surroundings.ask, netHttpEnabled: job.netHttpEnabled });
  const openers = Object.entries(packages).map(([name, open]): [string, HostFunction] => [
    name,
    () => [open()],
  ]);
  const native: Record<string, HostFunction> = {
    print: host((args) => {
      surroundings.print(args.bytes(1));
      return undefined;
    }),
    upper: host((args) => bytesOf(args.text(1).toUpperCase())),
    lower: host((args) => bytesOf(args.text(1).toLowerCase())),
    reverse: host((args) => bytesOf(Array.from(args.text(1)).toReversed().join(''))),
    frexp: (values) => frexp(Number(values[0])),
    is_over: host(isOver),
    over_message: host(() => overMessage),
    note_failure: host((args) => {
      failMessage = args.bytes(1);
      return undefined;
    }),
    modules: host(() => packageOf(Object.fromEntries(openers))),
    source: host((args) => moduleSource(args.text(1), job.exportPrefix)),
  };
  state.setGlobal('__native', packageOf(native));
  const broken = state.run(prelude, '=prelude');
  if (broken !== undefined)
    return broken.message === 'not enough memory' ? broken.message : `prelude: ${broken.message}`;
  state.setGlobal('args', luaOf(job.args));
  state.setGlobal('action', luaOf(job.action));
  state.setGlobal('username', luaOf(job.username));
  const failure = state.run(job.source, 'lua');
  return failure === undefined ? undefined : textOf(reasonOf(failure, failMessage));
}

function reasonOf({ kind, message, traceback }: LuaFailure, failMessage: string | undefined): string {
  if (kind === 'syntax') return `syntax error: ${message}`;
  if (message === failMessage || message === overMessage || message === 'not enough memory') return message;
  return `runtime error: ${message}${traceback === '' ? '' : `\n${traceback}`}`;
}

function frexp(value: number): readonly LuaValue[] {
  if (value === 0 || !Number.isFinite(value)) return [value, 0];
  const exponent = Math.max(-1023, Math.floor(Math.log2(Math.abs(value))) + 1);
  let mantissa = value * 2 ** -exponent;
  let power = exponent;
  while (Math.abs(mantissa) < 0.5) {
    mantissa *= 2;
    power -= 1;
  }
  while (Math.abs(mantissa) >= 1) {
    mantissa /= 2;
    power += 1;
  }
  return [mantissa, power];
}
