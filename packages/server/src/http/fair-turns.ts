/** Requests may begin for this long in one turn of the event loop before the others wait for the next. */
const beginMs = 5;
/** A turn should not last longer, including what its requests do after their first await. */
const turnMs = 20;
/** While clients are connecting: each of them costs a turn. */
const connectingTurnMs = 1;
/** Connections usually come in groups. */
const connectingMs = 50;

/**
 * Serves requests in the order they come, but ends a turn of the event loop before it becomes long. A loop accepts one
 * connection a turn: where a turn serves everybody who is connected, a newcomer waits for all of them each time.
 *
 * Requests begin together, which is a third quicker than one by one; most of their work comes after the first thing
 * they await, so how many may begin follows from what those of the last turns have cost.
 */
export class FairTurns {
  #waiting: (() => void)[] = [];
  #turnBegan = 0;
  #isTurn = false;
  #served = 0;
  #most = 0;
  #costMs = 0;
  #connectingUntil = 0;
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  readonly #nextTurn = (): void => {
    const now = this.#now();
    this.#isTurn = false;
    if (this.#served > 0) this.#costMs += ((now - this.#turnBegan) / this.#served - this.#costMs) / 2;
    if (this.#waiting.length === 0) return;
    this.#begin(now);
    const most = Math.min(this.#waiting.length, this.#most);
    do this.#waiting[this.#served++]?.();
    while (this.#served < most && this.#now() < now + beginMs);
    this.#waiting = this.#waiting.slice(this.#served);
  };

  /** A client has connected. */
  connected(): void {
    this.#connectingUntil = this.#now() + connectingMs;
  }

  serve(request: () => void): void {
    const now = this.#now();
    if (!this.#isTurn) this.#begin(now);
    if (this.#waiting.length > 0 || this.#served >= this.#most || now >= this.#turnBegan + beginMs) {
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
    const length = now < this.#connectingUntil ? connectingTurnMs : turnMs;
    this.#most = Math.max(1, Math.floor(length / this.#costMs));
    setImmediate(this.#nextTurn);
  }
}
