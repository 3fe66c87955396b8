export interface ListedPage<Row> {
  readonly rows: readonly Row[];
  /** Where the next page starts; undefined at the end. */
  readonly next: string | undefined;
}

export type FetchPage<Row> = (after: string, amount: number, signal: AbortSignal) => Promise<ListedPage<Row>>;

interface HeldPage<Row> {
  readonly after: string;
  readonly first: number;
  readonly count: number;
  /** Dropped when far out of view, read again when it comes near. */
  rows: readonly Row[] | undefined;
}

/** The first page is small, so that something appears soon. */
export const firstAmount = 200;
const furtherAmount = 1000;
const maxHeldRows = 50_000;

export interface PagedState {
  readonly count: number;
  readonly complete: boolean;
  readonly loading: boolean;
  readonly error: unknown;
  readonly version: number;
}

const nothing: PagedState = { count: 0, complete: false, loading: true, error: undefined, version: 0 };

let lists = 0;

/** A list of any length read page by page, holding a bounded number of rows. */
export class PagedList<Row> {
  #pages: HeldPage<Row>[] = [];
  #next: string | undefined;
  #state = nothing;
  #running: AbortController | undefined;
  #isFresh = false;
  #refilling = new Set<HeldPage<Row>>();
  readonly #listeners = new Set<() => void>();
  readonly #fetchPage: FetchPage<Row>;
  readonly #start: string;
  /** Tells lists apart. */
  readonly id = ++lists;
  /** How far down the reader is, in pixels; kept while the list is out of sight. */
  offset = 0;

  constructor(fetchPage: FetchPage<Row>, start: string) {
    this.#fetchPage = fetchPage;
    this.#start = start;
    this.#next = start;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): PagedState => this.#state;

  row(index: number): Row | undefined {
    const page = this.#pageOf(index);
    return page?.rows?.[index - page.first];
  }

  /** Rows `first` to `last` are visible: read what is missing around them, drop what is far away. */
  show(first: number, last: number): void {
    for (const page of this.#pages) {
      if (page.rows === undefined && page.first <= last && page.first + page.count >= first)
        this.#refill(page);
    }
    if (last >= this.#state.count - furtherAmount / 2) this.more();
    let held = 0;
    for (const page of this.#pages) if (page.rows !== undefined) held += page.count;
    while (held > maxHeldRows) {
      let far: HeldPage<Row> | undefined;
      let distance = furtherAmount * 2;
      for (const page of this.#pages) {
        if (page.rows === undefined) continue;
        const away = page.first > last ? page.first - last : first - page.first - page.count;
        if (away > distance) {
          distance = away;
          far = page;
        }
      }
      if (far === undefined) return;
      far.rows = undefined;
      held -= far.count;
    }
  }

  /** Reads the first page ahead of being shown; false when that failed. */
  async readAhead(): Promise<boolean> {
    await this.#load(this.#start, true);
    this.#isFresh = this.#state.error === undefined;
    return this.#isFresh;
  }

  /** The list comes into sight: reads the first page, or reads it again when it is the only one. */
  appear(): void {
    if (this.#state.count === 0 && !this.#isFresh) this.more();
    // A longer list would lose the reader's place.
    else if (this.#state.count <= firstAmount && !this.#isFresh) this.reload();
    this.#isFresh = false;
  }

  /** Reads the next page unless one is being read or the end was reached. */
  more(): void {
    if (this.#running !== undefined || this.#next === undefined || this.#state.error !== undefined) return;
    void this.#load(this.#next, this.#pages.length === 0);
  }

  retry(): void {
    this.#set({ error: undefined });
    this.more();
  }

  /** Starts over; the rows shown stay until the first page is there. */
  reload(): void {
    this.stop();
    this.#set({ error: undefined });
    void this.#load(this.#start, true);
  }

  stop(): void {
    if (this.#running === undefined) return;
    this.#running.abort();
    this.#running = undefined;
    if (this.#state.count > 0) this.#set({ loading: false });
  }

  async #load(after: string, startsOver: boolean): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    this.#set({ loading: true });
    try {
      const { rows, next } = await this.#fetchPage(
        after,
        startsOver ? firstAmount : furtherAmount,
        running.signal,
      );
      if (running.signal.aborted) return;
      if (startsOver) this.#pages = [];
      const first = startsOver ? 0 : this.#state.count;
      this.#pages.push({ after, first, count: rows.length, rows });
      this.#next = next;
      this.#running = undefined;
      this.#set({ count: first + rows.length, complete: next === undefined, loading: false });
    } catch (error) {
      if (running.signal.aborted) return;
      this.#running = undefined;
      this.#set({ loading: false, error });
    }
  }

  #refill(page: HeldPage<Row>): void {
    if (this.#refilling.has(page)) return;
    this.#refilling.add(page);
    const signal = new AbortController().signal;
    this.#fetchPage(page.after, page.first === 0 ? firstAmount : furtherAmount, signal)
      .then(({ rows }) => {
        page.rows = rows;
        this.#set({});
      })
      .catch((error: unknown) => this.#set({ error }))
      .finally(() => this.#refilling.delete(page));
  }

  #pageOf(index: number): HeldPage<Row> | undefined {
    let low = 0;
    let high = this.#pages.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const page = this.#pages[middle];
      if (page === undefined) return undefined;
      if (index < page.first) high = middle - 1;
      else if (index >= page.first + page.count) low = middle + 1;
      else return page;
    }
    return undefined;
  }

  #set(change: Partial<PagedState>): void {
    this.#state = { ...this.#state, ...change, version: this.#state.version + 1 };
    for (const listener of this.#listeners) listener();
  }
}

/** Turns an answer of the API into a page. */
export function toPage<Row>(answer: {
  pagination: { has_more: boolean; next_offset: string };
  results: readonly Row[];
}): ListedPage<Row> {
  return {
    rows: answer.results,
    next: answer.pagination.has_more ? answer.pagination.next_offset : undefined,
  };
}
