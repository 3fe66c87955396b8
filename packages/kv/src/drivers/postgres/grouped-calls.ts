/** So many times a group is filled up when some of its calls were equal. */
const maxLooks = 8;

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
  /** An order of calls: a group is sorted by it, and calls that are equal never share one. */
  readonly compare?: ((a: C, b: C) => number) | undefined;
  /** Calls `leave` at the end of the turn of the event loop. */
  readonly atEndOfTurn: (leave: () => void) => void;
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
    this.#options.atEndOfTurn(() => {
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
    const { maxGroup, compare } = this.#options;
    if (compare === undefined) return this.#waiting.splice(0, maxGroup);
    let group: Waiting<C, R>[] = [];
    const repeated: Waiting<C, R>[] = [];
    // Calls of one key must not keep those of others from a group for long.
    for (let look = 0; look < maxLooks && group.length < maxGroup && this.#waiting.length > 0; look += 1) {
      // Of those that are equal the earliest comes first.
      const sorted = [...group, ...this.#waiting.splice(0, maxGroup - group.length)].sort((a, b) =>
        compare(a.call, b.call),
      );
      const isRepeated = ({ call }: Waiting<C, R>, index: number): boolean => {
        const before = sorted[index - 1];
        return before !== undefined && compare(before.call, call) === 0;
      };
      repeated.push(...sorted.filter(isRepeated));
      group = sorted.filter((each, index) => !isRepeated(each, index));
    }
    this.#waiting.unshift(...repeated);
    return group;
  }
}
