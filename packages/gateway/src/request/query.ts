import { eachQueryPair, sigV4Decode } from '@svc/encoding';

const needsDecoding = /[%+\u0080-\u00ff]/;

interface Pair {
  readonly name: string;
  readonly value: string;
}

function decode(raw: string): string {
  return needsDecoding.test(raw) ? sigV4Decode(raw, 'space').toString('utf8') : raw;
}

const longestKnown = 1024;
/** Twice as many are remembered at most: those asked for lately, and those before them. */
const mostLately = 1500;
let lately = new Map<string, Query>();
let before = new Map<string, Query>();
/** Marks of queries that came once: most presigned URLs never come again, and keeping them costs more than reading them. */
const seen = new Uint32Array(8192);
const markedChars = 16;

/**
 * The query of a request. Queries that come again share one object: clients that list many pages, or read many ranges
 * of one presigned URL, send the same query again and again.
 */
export function queryOf(raw: string): Query {
  const known = lately.get(raw) ?? before.get(raw);
  if (known === undefined && (raw.length > longestKnown || !wasSeen(raw))) return new Query(raw, false);
  const query = known ?? new Query(raw, true);
  if (lately.get(raw) === undefined) {
    if (lately.size >= mostLately) {
      before = lately;
      lately = new Map();
    }
    lately.set(raw, query);
  }
  return query;
}

/** Whether such a query came before; two that share a mark are taken for one. */
function wasSeen(raw: string): boolean {
  let mark = raw.length;
  // A presigned URL ends with its signature, a listing with its position.
  for (let at = Math.max(raw.length - markedChars, 0); at < raw.length; at++)
    mark = (Math.imul(mark, 31) + raw.charCodeAt(at)) >>> 0;
  const slot = mark % seen.length;
  const was = seen[slot] === mark;
  seen[slot] = mark;
  return was;
}

/** Decoded values by exact-case name. */
export class Query {
  readonly #pairs: readonly Pair[];
  /** Whether the same query gets the same object again. */
  readonly isKept: boolean;

  constructor(raw: string, isKept: boolean) {
    const pairs: Pair[] = [];
    eachQueryPair(raw, (name, value) => pairs.push({ name: decode(name), value: decode(value) }));
    this.#pairs = pairs;
    this.isKept = isKept;
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
