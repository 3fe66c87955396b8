import { sigV4Decode } from '@svc/encoding';

const needsDecoding = /[%+\u0080-\u00ff]/;

interface Pair {
  readonly name: string;
  readonly value: string;
}

function decode(raw: string): string {
  return needsDecoding.test(raw) ? sigV4Decode(raw, 'space').toString('utf8') : raw;
}

const longestKnown = 1024;
const mostKnown = 1000;
const known = new Map<string, Query>();

/**
 * The query of a request. Equal queries share one object: clients that list many pages, or read many ranges of one
 * presigned URL, send the same query again and again.
 */
export function queryOf(raw: string): Query {
  const found = known.get(raw);
  if (found !== undefined) return found;
  const query = new Query(raw);
  if (raw.length <= longestKnown) {
    if (known.size >= mostKnown) known.clear();
    known.set(raw, query);
  }
  return query;
}

/** Decoded values by exact-case name. */
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
    return this.get(name) !== undefined;
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

  /** The first of its names that is among `names`. */
  firstOf(names: ReadonlySet<string>): string | undefined {
    for (const { name } of this.#pairs) if (names.has(name)) return name;
    return undefined;
  }

  *[Symbol.iterator](): IterableIterator<readonly [string, string]> {
    for (const pair of this.#pairs) yield [pair.name, pair.value];
  }
}
