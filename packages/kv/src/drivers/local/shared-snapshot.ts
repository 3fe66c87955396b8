/**
 * What reads see. lmdb keeps a snapshot for a turn of the event loop, in which requests and messages arrive: it would
 * hide what their senders have seen acknowledged. A snapshot of its own for each read costs more than the read. So reads
 * share one until everything is done that follows from one event. Until then nobody can have told us of a later write.
 */
export class SharedSnapshot {
  readonly #db: { resetReadTxn(): void };
  #isCurrent = false;
  readonly #end = (): void => {
    this.#isCurrent = false;
  };

  constructor(db: { resetReadTxn(): void }) {
    this.#db = db;
  }

  /** Before each read. */
  renew(): void {
    if (this.#isCurrent) return;
    this.#db.resetReadTxn();
    this.#isCurrent = true;
    // Comes after all promises that are settled now, and before the next event.
    process.nextTick(this.#end);
  }
}
