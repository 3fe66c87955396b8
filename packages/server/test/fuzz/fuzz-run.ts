import type { TargetServer } from '../attack/target-server.ts';
import { apiRequest } from './api-requests.ts';
import { powerlessRanks, type Caller } from './callers.ts';
import { textOf, type FuzzRequest } from './fuzz-request.ts';
import { judge } from './judge.ts';
import type { Facts } from './known-values.ts';
import { randomOf, type Random } from './random.ts';
import { s3Request } from './s3-requests.ts';
import { Wire } from './wire.ts';
import { World } from './world.ts';

export interface FuzzOptions {
  readonly seed: number;
  readonly count: number;
  /** Only this request, to look for its cause. */
  readonly only?: number | undefined;
  /** Told how far the run is. */
  readonly progress?: (line: string) => void;
}

export interface FuzzReport {
  readonly problems: readonly string[];
  readonly statuses: ReadonlyMap<number, number>;
}

const lanes = 8;
const blockSize = 250;
/** A run with more than this has shown what it can. */
const mostProblems = 200;

/** Sends generated requests in blocks; in every second block nobody has a right to change anything. */
export async function fuzz(
  target: TargetServer,
  { seed, count, only, progress }: FuzzOptions,
): Promise<FuzzReport> {
  const world = new World(target);
  const wire = new Wire(target.server.port);
  const pids = String(target.server.childPids());
  const problems: string[] = [];
  const statuses = new Map<number, number>();
  await world.inviteCallers();
  try {
    for (let from = 0; from < count && problems.length < mostProblems; from += blockSize) {
      const indexes = Array.from(
        { length: Math.min(blockSize, count - from) },
        (_, offset) => from + offset,
      ).filter((index) => only === undefined || index === only);
      if (indexes.length === 0) continue;
      const isQuiet = (from / blockSize) % 2 === 1;
      const callers = isQuiet
        ? world.callers.filter(({ rank }) => powerlessRanks.has(rank))
        : weighted(world.callers);
      const block = new Block(seed, target, world, wire, await world.furnish(), callers);
      const before = isQuiet ? await world.snapshot() : '';
      await block.send(indexes);
      if (from % 10_000 === 0) progress?.(`${from} requests, ${problems.length} problems`);
      problems.push(...block.problems);
      for (const problem of block.problems) progress?.(problem);
      for (const [status, number] of block.statuses)
        statuses.set(status, (statuses.get(status) ?? 0) + number);
      if (isQuiet) problems.push(...difference(before, await world.snapshot(), from));
      const now = String(target.server.childPids());
      if (now !== pids)
        problems.push(`the processes were ${pids} and are ${now} after request ${from + blockSize}`);
    }
  } finally {
    wire.close();
  }
  return { problems: problems.map((problem) => `seed ${seed}, ${problem}`), statuses };
}

class Block {
  readonly problems: string[] = [];
  readonly statuses = new Map<number, number>();
  readonly #seed: number;
  readonly #target: TargetServer;
  readonly #world: World;
  readonly #wire: Wire;
  readonly #facts: Facts;
  readonly #callers: readonly Caller[];

  constructor(
    seed: number,
    target: TargetServer,
    world: World,
    wire: Wire,
    facts: Facts,
    callers: readonly Caller[],
  ) {
    this.#seed = seed;
    this.#target = target;
    this.#world = world;
    this.#wire = wire;
    this.#facts = facts;
    this.#callers = callers;
  }

  async send(indexes: readonly number[]): Promise<void> {
    const queue = indexes[Symbol.iterator]();
    const lane = async (): Promise<void> => {
      for (const index of queue) await this.#sendOne(index);
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  async #sendOne(index: number): Promise<void> {
    const random = randomOf(this.#seed, index);
    const caller = random.pick(this.#callers);
    const request = requestOf(random, caller, this.#facts, `127.0.0.1:${this.#target.server.port}`);
    const found = await this.#problemsOf(request, caller, index);
    if (found.length === 0) return;
    // Alone, it shows whether those beside it had a part in it.
    const again = await this.#problemsOf(request, caller, index);
    const alone = again.length > 0 ? 'again when repeated' : 'not when repeated';
    this.problems.push(
      `request ${index} by ${caller.name}, ${alone}: ${found.join('; ')}\n  ${textOf(request)}`,
    );
  }

  async #problemsOf(request: FuzzRequest, caller: Caller, index: number): Promise<string[]> {
    // Failures are limited by address: nobody stays at one long enough, and strangers keep to their own.
    const isKnown = caller.rank !== 'stranger' && request.proof === 'right';
    const place = Math.floor(index / blockSize);
    const address = `127.${isKnown ? 1 : 2}.${place % 250}.${1 + (Math.floor(place / 250) % 250)}`;
    const { answer, fault } = await this.#wire.exchange(request, address);
    const found = fault === undefined ? [] : [fault];
    if (answer === undefined) return found;
    this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
    return [...found, ...judge(request, caller, answer, this.#world.secrets)];
  }
}

/** Those who get through to the operations come more often. */
function weighted(callers: readonly Caller[]): Caller[] {
  return callers.flatMap((caller) =>
    powerlessRanks.has(caller.rank) ? [caller] : [caller, caller, caller, caller],
  );
}

function requestOf(random: Random, caller: Caller, facts: Facts, host: string): FuzzRequest {
  return random.chance(0.6)
    ? apiRequest(random, caller, facts, host)
    : s3Request(random, caller, facts, host);
}

function difference(before: string, after: string, from: number): string[] {
  if (before === after) return [];
  const was = new Set(before.split('\n'));
  const is = new Set(after.split('\n'));
  const gone = [...was].filter((line) => !is.has(line)).slice(0, 5);
  const come = [...is].filter((line) => !was.has(line)).slice(0, 5);
  return [
    `requests ${from} to ${from + blockSize} changed something without any right: ${gone.join('')} became ${come.join('')}`,
  ];
}

/** Lines of a server's log that tell of a failure nobody asked for. */
export function errorLines(log: string): string[] {
  return log
    .split('\n')
    .filter((line) => /"level":"(error|fatal|panic)"|worker (process )?(died|exited)|Error:/.test(line))
    .map((line) => line.slice(0, 1000));
}
