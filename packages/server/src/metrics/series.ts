import type { Metric, Registry } from 'prom-client';

interface FamilyOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  readonly registry: Registry;
}

type Labels<L extends string> = Readonly<Record<L, string>>;

interface SampleValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/**
 * A metric that requests touch several times each. prom-client checks and hashes labels on every touch; here a
 * series is looked up once, kept by its user, and turned into prom-client's form when metrics are read.
 */
abstract class Family<L extends string, S> {
  readonly name: string;
  readonly help: string;
  readonly aggregator = 'sum';
  abstract readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labelNames: readonly L[];
  readonly #series = new Map<string, { readonly labels: Labels<L>; readonly series: S }>();

  constructor(options: FamilyOptions<L>) {
    this.name = options.name;
    this.help = options.help;
    this.labelNames = options.labelNames;
    options.registry.registerMetric(this as unknown as Metric);
  }

  /** The series of these labels, to be kept and used again. */
  labels(labels: Labels<L>): S {
    let key = '';
    for (const name of this.labelNames) key += `${labels[name]}\0`;
    const known = this.#series.get(key);
    if (known !== undefined) return known.series;
    const series = this.create();
    this.#series.set(key, { labels: { ...labels }, series });
    return series;
  }

  /** What prom-client's registry asks of a metric. */
  get(): Promise<object> {
    const values: SampleValue[] = [];
    for (const { labels, series } of this.#series.values()) values.push(...this.samples(labels, series));
    const { name, help, type, aggregator } = this;
    return Promise.resolve({ name, help, type, values, aggregator });
  }

  /** Forgets what was counted. Whoever keeps a series goes on with the same one. */
  reset(): void {
    for (const { series } of this.#series.values()) this.clear(series);
  }

  protected abstract create(): S;
  protected abstract clear(series: S): void;
  protected abstract samples(labels: Labels<L>, series: S): SampleValue[];
}

export class NumberSeries {
  value = 0;

  inc(by = 1): void {
    this.value += by;
  }

  dec(): void {
    this.value -= 1;
  }
}

export class NumberFamily<L extends string> extends Family<L, NumberSeries> {
  readonly type: 'counter' | 'gauge';

  constructor(options: FamilyOptions<L> & { readonly type: 'counter' | 'gauge' }) {
    super(options);
    this.type = options.type;
  }

  inc(labels: Labels<L>, by = 1): void {
    this.labels(labels).inc(by);
  }

  protected create(): NumberSeries {
    return new NumberSeries();
  }

  /** What is going on at the moment goes on. */
  protected clear(series: NumberSeries): void {
    if (this.type === 'counter') series.value = 0;
  }

  protected samples(labels: Labels<L>, series: NumberSeries): SampleValue[] {
    return [{ labels, value: series.value }];
  }
}

export class HistogramSeries {
  readonly #bounds: readonly number[];
  /** Observations up to each bound and above the one before; the last place is for what exceeds them all. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let index = 0;
    while (index < bounds.length && value > (bounds[index] as number)) index += 1;
    this.counts[index] = (this.counts[index] as number) + 1;
    this.sum += value;
  }
}

export class HistogramFamily<L extends string> extends Family<L, HistogramSeries> {
  readonly type = 'histogram';
  readonly #bounds: readonly number[];

  constructor(options: FamilyOptions<L> & { readonly buckets: readonly number[] }) {
    super(options);
    this.#bounds = options.buckets;
  }

  observe(labels: Labels<L>, value: number): void {
    this.labels(labels).observe(value);
  }

  protected create(): HistogramSeries {
    return new HistogramSeries(this.#bounds);
  }

  protected clear(series: HistogramSeries): void {
    series.counts.fill(0);
    series.sum = 0;
  }

  protected samples(labels: Labels<L>, series: HistogramSeries): SampleValue[] {
    const values: SampleValue[] = [];
    let count = 0;
    for (const [index, each] of series.counts.entries()) {
      count += each;
      const le = this.#bounds[index] ?? '+Inf';
      values.push({ labels: { le, ...labels }, value: count, metricName: `${this.name}_bucket` });
    }
    values.push({ labels, value: series.sum, metricName: `${this.name}_sum` });
    values.push({ labels, value: count, metricName: `${this.name}_count` });
    return values;
  }
}
