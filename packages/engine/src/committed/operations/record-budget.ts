/** Thrown when an operation turns out too large to run where it was started. */
export class TooManyRecords extends Error {
  override readonly name = 'TooManyRecords';
}

/** How many records an operation may read before it has to move to a worker. */
export class RecordBudget {
  #left: number;

  constructor(records: number) {
    this.#left = records;
  }

  spend(records: number): void {
    this.#left -= records;
    if (this.#left < 0) throw new TooManyRecords('more records than this thread may read at once');
  }
}
