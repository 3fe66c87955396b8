/** A pattern that cannot be read. */
export class GlobError extends Error {
  override readonly name = 'GlobError';

  constructor() {
    super('syntax error in pattern');
  }
}

/** Takes one character, or any run of characters but `/`. */
type Token = 'star' | ((character: string) => boolean);

/**
 * Whether the whole name matches: `*` is any run without `/`, `?` one character but `/`, `[a-z]` and `[^a-z]` classes,
 * `\` escapes. These are the patterns of action files; those of branch protection are others.
 */
export function matchPath(pattern: string, name: string): boolean {
  const tokens = new Parser(pattern).parse();
  const characters = Array.from(name);
  let token = 0;
  let position = 0;
  let afterStar = -1;
  let starReaches = 0;
  while (position < characters.length || token < tokens.length) {
    const current = tokens[token];
    const character = characters[position];
    if (current === 'star') {
      token += 1;
      afterStar = token;
      starReaches = position;
    } else if (current !== undefined && character !== undefined && current(character)) {
      token += 1;
      position += 1;
    } else {
      // Only the last star needs to give way: what stands before it has matched as early as it could.
      const next = characters[starReaches];
      if (afterStar === -1 || next === undefined || next === '/') return false;
      starReaches += 1;
      position = starReaches;
      token = afterStar;
    }
  }
  return true;
}

class Parser {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#characters = Array.from(pattern);
  }

  parse(): Token[] {
    const tokens: Token[] = [];
    while (this.#at < this.#characters.length) {
      const character = this.#next();
      if (character === '*') {
        if (tokens.at(-1) !== 'star') tokens.push('star');
      } else if (character === '?') tokens.push((candidate) => candidate !== '/');
      else if (character === '[') tokens.push(this.#class());
      else {
        const literal = character === '\\' ? this.#next() : character;
        tokens.push((candidate) => candidate === literal);
      }
    }
    return tokens;
  }

  #class(): Token {
    const isNegated = this.#peek() === '^';
    if (isNegated) this.#at += 1;
    const ranges: (readonly [number, number])[] = [];
    while (ranges.length === 0 || this.#peek() !== ']') {
      const low = this.#member();
      if (this.#peek() === '-') {
        this.#at += 1;
        ranges.push([low, this.#member()]);
      } else ranges.push([low, low]);
    }
    this.#at += 1;
    return (candidate) => {
      const code = candidate.codePointAt(0) ?? 0;
      return ranges.some(([low, high]) => low <= code && code <= high) !== isNegated;
    };
  }

  #member(): number {
    const character = this.#next();
    if (character === '-' || character === ']') throw new GlobError();
    return (character === '\\' ? this.#next() : character).codePointAt(0) ?? 0;
  }

  #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  #next(): string {
    const character = this.#characters[this.#at];
    if (character === undefined) throw new GlobError();
    this.#at += 1;
    return character;
  }
}
