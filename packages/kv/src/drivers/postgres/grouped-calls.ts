interface Waiting<C, R> {
  readonly call: C;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupOptions<C, R> {
  /** Carries out several calls in one round trip; the results in their order. */
  readonly run: (calls: readonly C[]) => Promise<readonly R[]>;
  readonly maxUnderWay: number;
  readonly maxGroup: number;
  /** Calls with the same one never share a group. */
  readonly keyOf?: ((call: C) => string) | undefined;
  /** Whether calls that failed together may succeed one by one. */
  readonly mayRunAlone: (error: unknown) => boolean;
}

/**
 * Carries out the calls of many requests together. Those of one turn of the event loop leave at its end; calls that
 * come while others are under way wait for them and leave as one group. Each is carried out after it was made, never
 * before.
 */
export class GroupedCalls<C, R> {
  readonly #options: GroupOptions<C, R>;
  #waiting: Waiting<C, R>[] = [];
  #underWay = 0;
  #isLeaving = false;

  constructor(options: GroupOptions<C, R>) {
    this.#options = options;
  }

  call(call: C): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject });
      this.#leaveSoon();
    });
  }

  /**
   * What many connections brought is read one after the other in a turn, and whoever was answered in it makes the next
   * call in it: leaving before its end would split them into one and the rest, which waits for that one.
   */
  #leaveSoon(): void {
    if (this.#isLeaving || this.#waiting.length === 0 || this.#underWay >= this.#options.maxUnderWay) return;
    this.#isLeaving = true;
    setImmediate(() => {
      this.#isLeaving = false;
      void this.#send();
      this.#leaveSoon();
    });
  }

  async #send(): Promise<void> {
    const group = this.#take();
    this.#underWay += 1;
    try {
      await this.#carryOut(group);
    } finally {
      this.#underWay -= 1;
      this.#leaveSoon();
    }
  }

  async #carryOut(group: readonly Waiting<C, R>[]): Promise<void> {
    try {
      const results = await this.#options.run(group.map(({ call }) => call));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as R);
    } catch (error) {
      if (group.length === 1 || !this.#options.mayRunAlone(error)) {
        for (const { reject } of group) reject(error);
      } else {
        for (const each of group) await this.#carryOut([each]);
      }
    }
  }

  #take(): readonly Waiting<C, R>[] {
    const { maxGroup, keyOf } = this.#options;
    const waiting = this.#waiting;
    if (keyOf === undefined) {
      this.#waiting = waiting.slice(maxGroup);
      return waiting.slice(0, maxGroup);
    }
    const taken = new Map<string, Waiting<C, R>>();
    this.#waiting = waiting.filter((each) => {
      const key = keyOf(each.call);
      if (taken.size === maxGroup || taken.has(key)) return true;
      taken.set(key, each);
      return false;
    });
    return [...taken.values()];
  }
}
