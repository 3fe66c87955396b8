/** Requests may begin for this long in one turn of the event loop before the others wait for the next. */
const beginMs = 5;
/** A turn should not last longer, with all that its requests go on with after awaiting something. */
const turnMs = 20;

/**
 * Serves requests in the order they come, but ends a turn of the event loop before it becomes long. A loop accepts one
 * connection a turn: where a turn serves everybody who is connected, who comes late waits for all of them each time.
 *
 * Requests begin together, which is a third quicker than one by one; most of their work comes after the first thing
 * they await, so how many may begin follows from what those of the last turns have cost.
 */
export class FairTurns {
  #waiting: (() => void)[] = [];
  #turnBegan = 0;
  #isTurn = false;
  #served = 0;
  #costMs = 0;

  readonly #nextTurn = (): void => {
    this.#isTurn = false;
    if (this.#waiting.length === 0) return;
    const now = performance.now();
    if (this.#served > 0) this.#costMs += ((now - this.#turnBegan) / this.#served - this.#costMs) / 2;
    this.#begin(now);
    const most = Math.min(this.#waiting.length, Math.max(1, Math.floor(turnMs / this.#costMs)));
    do this.#waiting[this.#served++]?.();
    while (this.#served < most && performance.now() < now + beginMs);
    this.#waiting = this.#waiting.slice(this.#served);
  };

  serve(request: () => void): void {
    const now = performance.now();
    if (!this.#isTurn) this.#begin(now);
    if (this.#waiting.length > 0 || now >= this.#turnBegan + beginMs) {
      this.#waiting.push(request);
      return;
    }
    this.#served += 1;
    request();
  }

  #begin(now: number): void {
    this.#isTurn = true;
    this.#turnBegan = now;
    this.#served = 0;
    setImmediate(this.#nextTurn);
  }
}
