import type { EngineContext } from '../context/engine-context.ts';
import type { RateLimit } from '../context/rate-limit.ts';
import { wholeRound, type JobRound } from '../face/jobs.ts';
import { cleanupTokensPartition } from '../store/keys.ts';

/** Readers that still hold an old branch record find its entries this long. */
const graceMs = 60_000;
const tokensPerRound = 512;

/**
 * Deletes the entries of retired tokens. A token is cleaned no sooner than a minute after this cleaner first saw
 * it, and once more a minute later for writers that were late; only then its record goes.
 */
export class TokenCleaner {
  readonly #context: EngineContext;
  readonly #limit: RateLimit;
  /** By token: when it may be cleaned (next), and whether that is the second time. */
  readonly #seen = new Map<string, { due: number; again: boolean }>();

  constructor(context: EngineContext, limit: RateLimit) {
    this.#context = context;
    this.#limit = limit;
  }

  /** One round; returns how many tokens were finished. */
  async run(round: JobRound = wholeRound): Promise<number> {
    const due = await this.#dueTokens();
    let finished = 0;
    for (const token of due) {
      if (!(await round.mayGoOn())) break;
      try {
        if (await this.#clean(token)) finished += 1;
      } catch (error) {
        this.#context.logger.warn({ err: error, token }, 'a retired token could not be cleaned');
      }
    }
    return finished;
  }

  async #dueTokens(): Promise<string[]> {
    const now = this.#context.clock();
    const listed = new Set<string>();
    const due: string[] = [];
    for await (const page of this.#context.kv.scan(cleanupTokensPartition)) {
      for (const { key } of page) {
        const token = key.toString();
        listed.add(token);
        const state = this.#seen.get(token);
        if (state === undefined) this.#seen.set(token, { due: now + graceMs, again: false });
        else if (state.due <= now) due.push(token);
      }
    }
    for (const token of this.#seen.keys()) if (!listed.has(token)) this.#seen.delete(token);
    return shuffled(due).slice(0, tokensPerRound);
  }

  async #clean(token: string): Promise<boolean> {
    const partition = Buffer.from(token);
    const { kv } = this.#context;
    for await (const page of kv.scan(partition)) {
      await Promise.all(
        page.map(async ({ key }) => {
          await this.#limit.take();
          await kv.delete(partition, key);
        }),
      );
    }
    if (this.#seen.get(token)?.again !== true) {
      this.#seen.set(token, { due: this.#context.clock() + graceMs, again: true });
      return false;
    }
    await this.#limit.take();
    await kv.delete(cleanupTokensPartition, partition);
    this.#seen.delete(token);
    return true;
  }
}

/** Random order: tokens that cannot be cleaned do not keep the others out of every round. */
function shuffled(tokens: string[]): string[] {
  for (let index = tokens.length - 1; index > 0; index -= 1) {
    const other = Math.floor(Math.random() * (index + 1));
    const swap = tokens[index] ?? '';
    tokens[index] = tokens[other] ?? '';
    tokens[other] = swap;
  }
  return tokens;
}
