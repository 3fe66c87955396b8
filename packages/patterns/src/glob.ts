/** A pattern that cannot be read; the message says why. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
  /** How many characters were read when it went wrong. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

export interface Glob {
  /** Whether the whole name matches. */
  test(name: string): boolean;
}

/** One step of a compiled pattern: take a character, or go on at every place of `next` without taking one. */
type Step = { readonly takes: (code: number) => boolean } | { readonly next: readonly number[] };

/**
 * Compiles a pattern, matched against the whole name: `*` any run, `?` one character, `[abc]`, `[a-z]`, `[!a]`,
 * `{x,y}` alternatives, `\` escapes. Throws `PatternError` on a malformed pattern.
 *
 * All ways to match are followed at once, so that a name costs its length times that of the pattern at most: a
 * regular expression with many `*` would try them one after the other, for minutes.
 */
export function compileGlob(pattern: string): Glob {
  // Most rules name one branch, and every write asks.
  if (!/[*?[{\\]/.test(pattern)) return { test: (name) => name === pattern };
  return new CompiledGlob(new Parser(pattern, false).parse());
}

/**
 * Compiles a pattern of paths, matched against the whole path: as `compileGlob`, but `*` and `?` take no `/`, `**` is any
 * run, and `**` with a `/` behind it, where a folder's name may begin, is any number of whole folders.
 */
export function compilePathGlob(pattern: string): Glob {
  const steps = new Parser(pattern, true).parse();
  const special = /[*?[{\\]/.exec(pattern);
  if (special === null) return { test: (path) => path === pattern };
  const head = pattern.slice(0, special.index);
  const rest = pattern.slice(head.length);
  if (rest === '**') return { test: (path) => path.startsWith(head) };
  const suffix = /^\*\*\/\*([^*?[{\\/]*)$/.exec(pattern)?.[1];
  if (suffix !== undefined) return { test: (path) => path.endsWith(suffix) };
  const compiled = new CompiledGlob(steps);
  return { test: (path) => path.startsWith(head) && compiled.test(path) };
}

class CompiledGlob implements Glob {
  readonly #steps: readonly Step[];
  /** The position for which a step was last noted, so that it is noted once. */
  readonly #notedAt: Int32Array;
  #position = 0;

  constructor(steps: readonly Step[]) {
    this.#steps = steps;
    this.#notedAt = new Int32Array(steps.length + 1);
  }

  test(name: string): boolean {
    this.#notedAt.fill(-1);
    this.#position = 0;
    let places: number[] = [];
    this.#note(0, places);
    for (const character of name) {
      const code = character.codePointAt(0) ?? 0;
      const following: number[] = [];
      this.#position += 1;
      for (const place of places) {
        const step = this.#steps[place];
        if (step !== undefined && 'takes' in step && step.takes(code)) this.#note(place + 1, following);
      }
      if (following.length === 0) return false;
      places = following;
    }
    return places.includes(this.#steps.length);
  }

  /** Notes a place, or those that are reached from it without taking a character. */
  #note(first: number, places: number[]): void {
    if (this.#notedAt[first] === this.#position) return;
    const open = [first];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (this.#notedAt[place] === this.#position) continue;
      this.#notedAt[place] = this.#position;
      const step = this.#steps[place];
      if (step === undefined || 'takes' in step) places.push(place);
      else open.push(...step.next);
    }
  }
}

/** Deeper alternatives than anybody writes. */
const maxDepth = 100;
const slash = 0x2f;
const anything = (): boolean => true;
const withinName = (code: number): boolean => code !== slash;

class Parser {
  readonly #characters: readonly string[];
  /** Whether `/` divides what is matched. */
  readonly #paths: boolean;
  readonly #steps: Step[] = [];
  #at = 0;
  #depth = 0;
  /** Whether what follows begins the name of a folder or file. */
  #beginsName = true;

  constructor(pattern: string, paths: boolean) {
    this.#characters = Array.from(pattern);
    this.#paths = paths;
  }

  parse(): readonly Step[] {
    this.#sequence(false);
    return this.#steps;
  }

  /** Up to the end, or inside braces up to the `,` or `}` that ends an alternative. */
  #sequence(inBraces: boolean): void {
    while (this.#at < this.#characters.length) {
      const character = this.#characters[this.#at] ?? '';
      if (inBraces && (character === ',' || character === '}')) return;
      this.#at += 1;
      if (character === '{') {
        this.#alternatives();
        continue;
      }
      const beginsName = this.#beginsName;
      this.#beginsName = false;
      if (character === '*') this.#star(beginsName);
      else if (character === '?') this.#steps.push({ takes: this.#withinName });
      else if (character === '[') this.#steps.push({ takes: this.#class() });
      else this.#literal(character === '\\' ? this.#escaped() : character);
    }
  }

  get #withinName(): (code: number) => boolean {
    return this.#paths ? withinName : anything;
  }

  #star(beginsName: boolean): void {
    if (!this.#paths || this.#characters[this.#at] !== '*') {
      this.#anyRun(this.#withinName);
      return;
    }
    while (this.#characters[this.#at] === '*') this.#at += 1;
    if (!beginsName || this.#characters[this.#at] !== '/') {
      this.#anyRun(anything);
      return;
    }
    this.#at += 1;
    const fork = this.#steps.length;
    this.#steps.push({ next: [] });
    this.#anyRun(anything);
    this.#literal('/');
    this.#steps[fork] = { next: [fork + 1, this.#steps.length] };
  }

  #anyRun(takes: (code: number) => boolean): void {
    const start = this.#steps.length;
    this.#steps.push({ next: [start + 1, start + 3] }, { takes }, { next: [start] });
  }

  #literal(character: string): void {
    const expected = character.codePointAt(0);
    this.#steps.push({ takes: (code) => code === expected });
    this.#beginsName = expected === slash;
  }

  #escaped(): string {
    const character = this.#characters[this.#at];
    if (character === undefined) throw this.#error('it ends in a backslash');
    this.#at += 1;
    return character;
  }

  #alternatives(): void {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw this.#error(`{ are nested more than ${maxDepth} deep`);
    const { length: fork } = this.#steps;
    const beginsName = this.#beginsName;
    let allEndFolders = true;
    this.#steps.push({ next: [] });
    const starts: number[] = [];
    const ends: number[] = [];
    for (let closed = false; !closed;) {
      starts.push(this.#steps.length);
      this.#beginsName = beginsName;
      this.#sequence(true);
      allEndFolders &&= this.#beginsName;
      const ending = this.#characters[this.#at];
      if (ending === undefined) throw this.#error('a { is not closed');
      this.#at += 1;
      closed = ending === '}';
      ends.push(this.#steps.length);
      this.#steps.push({ next: [] });
    }
    this.#steps[fork] = { next: starts };
    for (const end of ends) this.#steps[end] = { next: [this.#steps.length] };
    this.#beginsName = allEndFolders;
    this.#depth -= 1;
  }

  #class(): (code: number) => boolean {
    const negated = this.#characters[this.#at] === '!';
    if (negated) this.#at += 1;
    const ranges: [number, number][] = [];
    for (;;) {
      const character = this.#characters[this.#at];
      if (character === undefined) throw this.#error('a [ is not closed');
      this.#at += 1;
      // A bracket right after the opening is a member, not the end.
      if (character === ']' && ranges.length > 0) break;
      const from = character === '\\' ? this.#escaped() : character;
      ranges.push([codeOf(from), codeOf(this.#rangeEnd(from))]);
    }
    return (code) => ranges.some(([from, to]) => code >= from && code <= to) !== negated;
  }

  /** The last member of a range such as `a-z`, or `from` alone. */
  #rangeEnd(from: string): string {
    const [dash, to] = this.#characters.slice(this.#at, this.#at + 2);
    if (dash !== '-' || to === undefined || to === ']') return from;
    if (codeOf(to) < codeOf(from)) throw this.#error(`the range ${from}-${to} is backwards`);
    this.#at += 2;
    return to;
  }

  #error(message: string): PatternError {
    return new PatternError(message, this.#at);
  }
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
