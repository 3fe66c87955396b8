interface Flight<V> {
  readonly current: Promise<V>;
  next: Promise<V> | undefined;
}

/**
 * Lets concurrent readers of one key share reads of the store. A lone reader reads at once; readers that arrive
 * while a read is under way share the next one, which starts when that one ends or after `maxDelayMs`. Nobody is
 * answered from a read begun before the request, so a reader sees its own writes. Results are shared: never
 * change them.
 */
export class SharedReads<V> {
  readonly #flights = new Map<string, Flight<V>>();
  readonly #maxDelayMs: number;

  constructor(maxDelayMs: number) {
    this.#maxDelayMs = maxDelayMs;
  }

  read(key: string, load: () => Promise<V>): Promise<V> {
    const flight = this.#flights.get(key);
    if (flight === undefined) return this.#start(key, load);
    flight.next ??= this.#after(key, flight, load);
    return flight.next;
  }

  #start(key: string, load: () => Promise<V>): Promise<V> {
    const current = load();
    const flight: Flight<V> = { current, next: undefined };
    this.#flights.set(key, flight);
    const land = (): void => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    current.then(land, land);
    return current;
  }

  #after(key: string, flight: Flight<V>, load: () => Promise<V>): Promise<V> {
    const { promise, resolve } = Promise.withResolvers<V>();
    let started = false;
    const start = (): void => {
      if (started) return;
      started = true;
      clearTimeout(timer);
      resolve(this.#start(key, load));
    };
    const timer = setTimeout(start, this.#maxDelayMs);
    flight.current.then(start, start);
    return promise;
  }
}
