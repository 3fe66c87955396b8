import type { KvCondition, KvEntry, KvPredicate, KvScanOptions, KvStore, KvValue, KvWrite } from '@svc/kv';
import type { Metrics } from './metrics.ts';

/** Told of every change that happened. */
export type OnChanged = (partition: Uint8Array, writes: readonly KvWrite[]) => void;

type Operation = 'Get' | 'Set' | 'SetIf' | 'Change' | 'Delete' | 'Scan' | 'Close';

/** Measures every call of a key-value store. */
export function instrumentKv(
  store: KvStore,
  metrics: Pick<Metrics, 'kvDuration' | 'kvFailures'>,
  changed?: OnChanged,
): KvStore {
  return new InstrumentedKv(store, metrics, changed);
}

class InstrumentedKv implements KvStore {
  readonly type: string;
  /** Only when the store has it. */
  readonly valueAtOnce?: NonNullable<KvStore['valueAtOnce']>;
  readonly firstKeyAtOnce?: NonNullable<KvStore['firstKeyAtOnce']>;
  readonly setThenGet?: NonNullable<KvStore['setThenGet']>;
  readonly predicateOf?: NonNullable<KvStore['predicateOf']>;
  readonly #store: KvStore;
  readonly #changed: OnChanged | undefined;
  readonly #durations: Record<Operation, { observe(seconds: number): void }>;
  readonly #failures: Record<Operation, { inc(): void }>;

  constructor(
    store: KvStore,
    metrics: Pick<Metrics, 'kvDuration' | 'kvFailures'>,
    changed: OnChanged | undefined,
  ) {
    this.#changed = changed;
    this.type = store.type;
    this.#store = store;
    // Bound once per operation: labels are not hashed again on every call.
    const duration = (operation: Operation) => metrics.kvDuration.labels({ type: store.type, operation });
    const failure = (operation: Operation) => metrics.kvFailures.labels({ type: store.type, operation });
    this.#durations = {
      Get: duration('Get'),
      Set: duration('Set'),
      SetIf: duration('SetIf'),
      Change: duration('Change'),
      Delete: duration('Delete'),
      Scan: duration('Scan'),
      Close: duration('Close'),
    };
    this.#failures = {
      Get: failure('Get'),
      Set: failure('Set'),
      SetIf: failure('SetIf'),
      Change: failure('Change'),
      Delete: failure('Delete'),
      Scan: failure('Scan'),
      Close: failure('Close'),
    };
    if (store.valueAtOnce !== undefined)
      this.valueAtOnce = (partition, key) => this.#measureAtOnce(store, partition, key);
    if (store.firstKeyAtOnce !== undefined)
      this.firstKeyAtOnce = (partition, start) => this.#measureFirstKey(store, partition, start);
    if (store.predicateOf !== undefined) this.predicateOf = store.predicateOf.bind(store);
    const setThenGet = store.setThenGet?.bind(store);
    if (setThenGet !== undefined)
      this.setThenGet = (...args) => this.#measure('Set', setThenGet(...args), never);
  }

  #measureAtOnce(store: KvStore, partition: Uint8Array, key: Uint8Array): Buffer | undefined {
    const started = performance.now();
    let value: Buffer | undefined;
    try {
      value = store.valueAtOnce?.(partition, key);
      return value;
    } finally {
      this.#durations.Get.observe((performance.now() - started) / 1000);
      if (value === undefined) this.#failures.Get.inc();
    }
  }

  #measureFirstKey(store: KvStore, partition: Uint8Array, start: Uint8Array): Buffer | undefined {
    const started = performance.now();
    try {
      return store.firstKeyAtOnce?.(partition, start);
    } finally {
      this.#durations.Scan.observe((performance.now() - started) / 1000);
    }
  }

  #measure<T>(operation: Operation, call: Promise<T>, failed: (result: T) => boolean): Promise<T> {
    const started = performance.now();
    const durations = this.#durations[operation];
    return call.then(
      (result) => {
        durations.observe((performance.now() - started) / 1000);
        if (failed(result)) this.#failures[operation].inc();
        return result;
      },
      (error: unknown) => {
        durations.observe((performance.now() - started) / 1000);
        this.#failures[operation].inc();
        throw error;
      },
    );
  }

  get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    return this.#measure('Get', this.#store.get(partition, key), isUndefined);
  }

  set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    return this.#measure('Set', this.#store.set(partition, key, value), never);
  }

  setIf(partition: Uint8Array, key: Uint8Array, value: Uint8Array, condition: KvCondition): Promise<boolean> {
    return this.#measure('SetIf', this.#store.setIf(partition, key, value, condition), isFalse);
  }

  change(...args: Parameters<KvStore['change']>): Promise<boolean> {
    const changed = this.#changed;
    return this.#measure('Change', this.#store.change(...args), (isDone) => {
      if (isDone) changed?.(args[0], args[2]);
      return !isDone;
    });
  }

  getMany(...args: Parameters<KvStore['getMany']>): Promise<(KvValue | undefined)[]> {
    return this.#measure('Get', this.#store.getMany(...args), never);
  }

  setMany(...args: Parameters<KvStore['setMany']>): Promise<void> {
    return this.#measure('Set', this.#store.setMany(...args), never);
  }

  deleteMany(...args: Parameters<KvStore['deleteMany']>): Promise<void> {
    return this.#measure('Delete', this.#store.deleteMany(...args), never);
  }

  maxKeyBytes(partition: Uint8Array): number {
    return this.#store.maxKeyBytes(partition);
  }

  delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    return this.#measure('Delete', this.#store.delete(partition, key), never);
  }

  deleteIf(partition: Uint8Array, key: Uint8Array, predicate: KvPredicate): Promise<boolean> {
    return this.#measure('Delete', this.#store.deleteIf(partition, key, predicate), isFalse);
  }

  /** Each page counts as one request: the time between pages is the caller's. */
  async *scan(partition: Uint8Array, options?: KvScanOptions): AsyncIterableIterator<KvEntry[]> {
    const pages = this.#store.scan(partition, options);
    try {
      for (;;) {
        const page = await this.#measure('Scan', pages.next(), never);
        if (page.done === true) return;
        yield page.value;
      }
    } finally {
      await pages.return?.();
    }
  }

  partitions(): AsyncIterableIterator<Buffer> {
    return this.#store.partitions();
  }

  close(): Promise<void> {
    return this.#measure('Close', this.#store.close(), never);
  }
}

const never = (): boolean => false;
const isFalse = (result: boolean): boolean => !result;
const isUndefined = (result: unknown): boolean => result === undefined;
