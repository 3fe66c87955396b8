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
type LoadedLua = Awaited<ReturnType<typeof loadLuaModule>>;

interface Running {
  readonly job: LuaJob;
  readonly surroundings: ScriptSurroundings;
  failMessage?: string | undefined;
}

/**
 * Runs the scripts of hooks. Making an interpreter fit for them takes longer than most of them, so it is done once; its
 * memory is kept as it is then, and put back after each script.
 */
export class ScriptInterpreter {
  readonly #lua: LoadedLua;
  readonly #state: LuaState;
  readonly #size: number;
  #running: Running | undefined;

  constructor(lua: LoadedLua, { netHttpEnabled }: { readonly netHttpEnabled: boolean }) {
    this.#lua = lua;
    this.#state = new LuaState(lua, { onTick: () => this.#tick() });
    this.#state.setGlobal('__native', packageOf(this.#native(netHttpEnabled)));
    const broken = this.#state.run(prelude, '=prelude');
    if (broken !== undefined) throw new Error(`prelude: ${broken.message}`);
    this.#state.keep();
    this.#size = lua.HEAPU8.length;
  }

  /** Why the script failed, or undefined when it passed. `reset` comes before the next one. */
  run(job: LuaJob, surroundings: ScriptSurroundings): string | undefined {
    const running: Running = { job, surroundings };
    this.#running = running;
    try {
      const state = this.#state;
      state.setGlobal('args', luaOf(job.args));
      state.setGlobal('action', luaOf(job.action));
      state.setGlobal('username', luaOf(job.username));
      const failure = state.run(job.source, 'lua');
      return failure === undefined ? undefined : textOf(reasonOf(failure, running.failMessage));
    } finally {
      this.#running = undefined;
    }
  }

  /** Nothing of the last script is left. */
  reset(): void {
    this.#state.reset();
  }

  /** A script made its memory larger, and it stays so. */
  get hasGrown(): boolean {
    return this.#lua.HEAPU8.length > this.#size;
  }

  get #now(): Running {
    if (this.#running === undefined) throw new Error('no script is running');
    return this.#running;
  }

  #isOver(): boolean {
    const deadline = this.#running?.job.deadline;
    return deadline !== undefined && Date.now() >= deadline;
  }

  #tick(): string | undefined {
    this.#running?.surroundings.onTick();
    return this.#isOver() ? overMessage : undefined;
  }

  #native(netHttpEnabled: boolean): Record<string, HostFunction> {
    const packages = packagesFor({
      ask: (call) => this.#now.surroundings.ask(call),
      netHttpEnabled,
      // What it has written so far is seen while it sleeps.
      onSleep: () => this.#now.surroundings.onTick(),
    });
    const openers = Object.entries(packages).map(([name, open]): [string, HostFunction] => [
      name,
      () => [open()],
    ]);
    return {
      print: host((args) => {
        this.#now.surroundings.print(args.bytes(1));
        return undefined;
      }),
      upper: host((args) => bytesOf(args.text(1).toUpperCase())),
      lower: host((args) => bytesOf(args.text(1).toLowerCase())),
      reverse: host((args) => bytesOf(Array.from(args.text(1)).toReversed().join(''))),
      frexp: (values) => frexp(Number(values[0])),
      is_over: host(() => this.#isOver()),
      over_message: host(() => overMessage),
      note_failure: host((args) => {
        this.#now.failMessage = args.bytes(1);
        return undefined;
      }),
      modules: host(() => packageOf(Object.fromEntries(openers))),
      source: host((args) => moduleSource(args.text(1), this.#now.job.exportPrefix)),
    };
  }
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
