/** Requests may take this long in one turn of the event loop before the others wait for the next. */
const turnMs = 5;

/**
 * Serves requests in the order they come, but ends a turn of the event loop before it becomes long. A loop accepts one
 * connection a turn: where a turn serves everybody who is connected, who comes late waits for all of them each time.
 */
export class FairTurns {
  #waiting: (() => void)[] = [];
  #turnEnds = 0;
  #isTurn = false;
  readonly #endTurn = (): void => {
    this.#isTurn = false;
    if (this.#waiting.length === 0) return;
    this.#begin();
    const waiting = this.#waiting;
    let served = 0;
    do waiting[served++]?.();
    while (served < waiting.length && performance.now() < this.#turnEnds);
    this.#waiting = waiting.slice(served);
  };

  serve(request: () => void): void {
    if (!this.#isTurn) this.#begin();
    if (this.#waiting.length === 0 && performance.now() < this.#turnEnds) request();
    else this.#waiting.push(request);
  }

  #begin(): void {
    this.#isTurn = true;
    this.#turnEnds = performance.now() + turnMs;
    setImmediate(this.#endTurn);
  }
}
