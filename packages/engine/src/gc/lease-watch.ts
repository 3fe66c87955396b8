import { setTimeout as delay } from 'node:timers/promises';
import { gcHeld, gcIdle, gcStateMessage } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import { stateKey } from './gc-keys.ts';

/** A state that did not change for so long belongs to a dead owner: it would have shown life six times. */
const deadAfterMs = 60_000;

/** Time that only goes on: a wall clock may jump. */
export interface SteadyTime {
  /** Milliseconds since some moment. */
  now(): number;
  rest(milliseconds: number): Promise<void>;
}

export const systemTime: SteadyTime = {
  now: () => performance.now(),
  rest: (milliseconds) => delay(milliseconds),
};

/** Notices collectors that died, by bytes that do not change, and ends their work. */
export class LeaseWatch {
  readonly #kv: KvStore;
  readonly #time: SteadyTime;
  /** By partition: what was seen and since when. */
  readonly #seen = new Map<string, { readonly value: Buffer; readonly since: number }>();

  constructor(kv: KvStore, time: SteadyTime) {
    this.#kv = kv;
    this.#time = time;
  }

  rest(milliseconds: number): Promise<void> {
    return this.#time.rest(milliseconds);
  }

  /** Whether a collector is at work, as far as this process can tell; ends the work of one that is dead. */
  async look(partition: Buffer): Promise<'free' | 'busy' | 'held'> {
    const name = partition.toString('latin1');
    const found = await this.#kv.get(partition, stateKey);
    const state = found === undefined ? undefined : gcStateMessage.decode(found.value);
    if (found === undefined || state === undefined || state.phase === gcIdle || state.phase === gcHeld) {
      this.#seen.delete(name);
      return state?.phase === gcHeld ? 'held' : 'free';
    }
    const seen = this.#seen.get(name);
    if (seen === undefined || !seen.value.equals(found.value)) {
      this.#seen.set(name, { value: found.value, since: this.#time.now() });
      return 'busy';
    }
    if (this.#time.now() - seen.since < deadAfterMs) return 'busy';
    const ended = { ...state, phase: gcIdle, generation: state.generation + 1, inFlight: false, owner: '' };
    const isEnded = await this.#kv.setIf(partition, stateKey, gcStateMessage.encode(ended), found.predicate);
    this.#seen.delete(name);
    return isEnded ? 'free' : 'busy';
  }
}
