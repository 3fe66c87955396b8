import { sigV4Decode } from '@svc/encoding';

const needsDecoding = /[%+\u0080-\u00ff]/;

interface Pair {
  readonly name: string;
  readonly value: string;
}

function decode(raw: string): string {
  return needsDecoding.test(raw) ? sigV4Decode(raw, 'space').toString('utf8') : raw;
}

/** The query of a request: decoded values by exact-case name. */
export class Query {
  readonly #pairs: readonly Pair[];

  constructor(raw: string) {
    const pairs: Pair[] = [];
    if (raw !== '') {
      for (const item of raw.split('&')) {
        if (item === '') continue;
        const equals = item.indexOf('=');
        pairs.push({
          name: decode(equals < 0 ? item : item.slice(0, equals)),
          value: equals < 0 ? '' : decode(item.slice(equals + 1)),
        });
      }
    }
    this.#pairs = pairs;
  }

  has(name: string): boolean {
    return this.#pairs.some((pair) => pair.name === name);
  }

  /** The first value of that name; `''` for a name without value, undefined when absent. */
  get(name: string): string | undefined {
    for (const pair of this.#pairs) if (pair.name === name) return pair.value;
    return undefined;
  }

  /** The value, with an empty one counted as absent. */
  text(name: string): string | undefined {
    const value = this.get(name);
    return value === '' ? undefined : value;
  }

  *names(): IterableIterator<string> {
    for (const pair of this.#pairs) yield pair.name;
  }

  *[Symbol.iterator](): IterableIterator<readonly [string, string]> {
    for (const pair of this.#pairs) yield [pair.name, pair.value];
  }
}
