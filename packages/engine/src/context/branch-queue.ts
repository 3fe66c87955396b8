/** How long work outside the engine (hooks) may take before others are let through. */
const outsideGraceMs = 20;

/** A turn at moving one branch's head. */
export interface Turn {
  /** Others had their turn since it was asked for. */
  readonly hasWaited: boolean;
  /**
   * Runs work that may come back into the engine. When it takes long the turn is passed on, so a hook that writes
   * to its own branch never waits for itself.
   */
  outside<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Lets the head updates of one branch in this process take turns, because all but one of them would lose the
 * compare-and-set and work in vain. Only an optimisation: correctness rests on the compare-and-set.
 */
export class BranchQueue {
  readonly #tails = new Map<string, Promise<void>>();

  async run<T>(branch: string, work: (turn: Turn) => Promise<T>): Promise<T> {
    const previous = this.#tails.get(branch);
    const { promise, resolve: pass } = Promise.withResolvers<void>();
    this.#tails.set(branch, promise);
    if (previous !== undefined) await previous;
    const release = (): void => {
      if (this.#tails.get(branch) === promise) this.#tails.delete(branch);
      pass();
    };
    const turn: Turn = {
      hasWaited: previous !== undefined,
      outside: async (outsideWork) => {
        const timer = setTimeout(release, outsideGraceMs);
        try {
          return await outsideWork();
        } finally {
          clearTimeout(timer);
        }
      },
    };
    try {
      return await work(turn);
    } finally {
      release();
    }
  }
}
