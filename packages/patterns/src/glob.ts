/** A pattern that cannot be read; the message says why. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
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
  return new CompiledGlob(new Parser(pattern).parse());
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
const anything = (): boolean => true;

class Parser {
  readonly #characters: readonly string[];
  readonly #steps: Step[] = [];
  #at = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#characters = Array.from(pattern);
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
      if (character === '*') this.#anyRun();
      else if (character === '?') this.#steps.push({ takes: anything });
      else if (character === '[') this.#steps.push({ takes: this.#class() });
      else if (character === '{') this.#alternatives();
      else this.#literal(character === '\\' ? this.#escaped() : character);
    }
  }

  #anyRun(): void {
    const start = this.#steps.length;
    this.#steps.push({ next: [start + 1, start + 3] }, { takes: anything }, { next: [start] });
  }

  #literal(character: string): void {
    const expected = character.codePointAt(0);
    this.#steps.push({ takes: (code) => code === expected });
  }

  #escaped(): string {
    const character = this.#characters[this.#at];
    if (character === undefined) throw new PatternError('it ends in a backslash');
    this.#at += 1;
    return character;
  }

  #alternatives(): void {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new PatternError(`{ are nested more than ${maxDepth} deep`);
    const fork = this.#steps.length;
    this.#steps.push({ next: [] });
    const starts: number[] = [];
    const ends: number[] = [];
    for (let closed = false; !closed;) {
      starts.push(this.#steps.length);
      this.#sequence(true);
      const ending = this.#characters[this.#at];
      if (ending === undefined) throw new PatternError('a { is not closed');
      this.#at += 1;
      closed = ending === '}';
      ends.push(this.#steps.length);
      this.#steps.push({ next: [] });
    }
    this.#steps[fork] = { next: starts };
    for (const end of ends) this.#steps[end] = { next: [this.#steps.length] };
    this.#depth -= 1;
  }

  #class(): (code: number) => boolean {
    const negated = this.#characters[this.#at] === '!';
    if (negated) this.#at += 1;
    const ranges: [number, number][] = [];
    for (;;) {
      const character = this.#characters[this.#at];
      if (character === undefined) throw new PatternError('a [ is not closed');
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
    if (codeOf(to) < codeOf(from)) throw new PatternError(`the range ${from}-${to} is backwards`);
    this.#at += 2;
    return to;
  }
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
