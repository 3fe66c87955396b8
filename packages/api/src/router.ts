/** A handler with the decoded parameters of its path. */
export interface Match<H> {
  readonly handler: H;
  readonly params: Readonly<Record<string, string>>;
}

/** A place in the tree of paths: its handlers by method, the fixed names below it, and the parameter below it. */
class Place<H> {
  readonly handlers = new Map<string, { readonly handler: H; readonly names: readonly string[] }>();
  readonly fixed = new Map<string, Place<H>>();
  parameter: Place<H> | undefined;
}

const mostKnown = 1000;
const longestKnown = 256;

/**
 * Finds the handler of a method and a path. A fixed name wins over a parameter; parameters are whole segments. An empty
 * parameter in the middle matches, and the handler refuses it; at the end it is a trailing slash and does not match.
 */
export class Router<H> {
  readonly #root = new Place<H>();
  /** Earlier matches, by method and path: clients mostly ask for the same few paths, with the object in the query. */
  readonly #known = new Map<string, Map<string, Match<H>>>();

  /** `path` has its parameters in braces: `/repositories/{repository}`. */
  add(method: string, path: string, handler: H): void {
    let place = this.#root;
    const names: string[] = [];
    for (const segment of segmentsOf(path)) {
      if (segment.startsWith('{')) {
        names.push(segment.slice(1, -1));
        place = place.parameter ??= new Place();
      } else {
        const next = place.fixed.get(segment) ?? new Place();
        place.fixed.set(segment, next);
        place = next;
      }
    }
    if (place.handlers.has(method)) throw new TypeError(`${method} ${path} is routed twice`);
    place.handlers.set(method, { handler, names });
    this.#known.set(method, new Map());
  }

  /** Throws a `URIError` when the path is not validly encoded. */
  find(method: string, path: string): Match<H> | undefined {
    const known = this.#known.get(method);
    if (known === undefined) return undefined;
    const before = known.get(path);
    if (before !== undefined) return before;
    const match = this.#search(method, path);
    if (match === undefined || path.length > longestKnown) return match;
    if (known.size >= mostKnown) known.clear();
    known.set(path, match);
    return match;
  }

  #search(method: string, path: string): Match<H> | undefined {
    const segments = segmentsOf(path);
    if (path.includes('%')) {
      for (const [index, segment] of segments.entries()) segments[index] = decodeURIComponent(segment);
    }
    return findIn(this.#root, method, segments, 0, []);
  }
}

function segmentsOf(path: string): string[] {
  const segments = path.split('/');
  segments.shift();
  return segments;
}

function findIn<H>(
  place: Place<H>,
  method: string,
  segments: readonly string[],
  index: number,
  values: string[],
): Match<H> | undefined {
  const segment = segments[index];
  if (segment === undefined) {
    const found = place.handlers.get(method);
    if (found === undefined) return undefined;
    const params: Record<string, string> = {};
    let at = 0;
    for (const name of found.names) params[name] = values[at++] ?? '';
    return { handler: found.handler, params: Object.freeze(params) };
  }
  const fixed = place.fixed.get(segment);
  if (fixed !== undefined) {
    const found = findIn(fixed, method, segments, index + 1, values);
    if (found !== undefined) return found;
  }
  const isTrailingSlash = segment === '' && index === segments.length - 1;
  if (place.parameter === undefined || isTrailingSlash) return undefined;
  values.push(segment);
  const found = findIn(place.parameter, method, segments, index + 1, values);
  if (found === undefined) values.pop();
  return found;
}
