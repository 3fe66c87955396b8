/**
 * Wildcard patterns of policies: `*` is any run of characters, `?` exactly one code point, all else is literal.
 * A two-pointer matcher with one backtracking point: linear memory and no regular expression, so that no
 * pattern can be made expensive beyond |pattern| × |text|.
 */
export interface Wildcard {
  /** What a matching text begins with. */
  readonly prefix: string;
  /** Whether the text matches from the end of the prefix on, given that it begins with it. */
  readonly matchesRest: (text: string) => boolean;
  /** How the pattern meets the texts that begin with `start`, `start` itself among them. */
  readonly below: (start: string) => Overlap;
}

/** A pattern matches every text of a set, some of them or none. */
export type Overlap = 'all' | 'some' | 'none';

export type Matcher = (text: string) => boolean;

const anyRun = -1;
const anyOne = -2;

/** Literal text that must not be read as a pattern, between pieces that are. */
export interface PatternPiece {
  readonly text: string;
  readonly literal: boolean;
}

export function compileWildcard(pieces: readonly PatternPiece[]): Wildcard {
  const tokens: number[] = [];
  for (const { text, literal } of pieces) {
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (literal || (unit !== star && unit !== question)) tokens.push(unit);
      // `*?` is `?*`, so that a run of wildcards ends in its `*`.
      else if (unit === question) tokens.splice(tokens.at(-1) === anyRun ? -1 : tokens.length, 0, anyOne);
      else if (tokens.at(-1) !== anyRun) tokens.push(anyRun);
    }
  }
  const wild = tokens.findIndex((token) => token < 0);
  const prefix = textOf(wild < 0 ? tokens : tokens.slice(0, wild));
  const below = (start: string): Overlap => overlapBelow(tokens, start);
  if (wild < 0) return { prefix, matchesRest: (text) => text.length === prefix.length, below };
  if (wild === tokens.length - 1 && tokens[wild] === anyRun)
    return { prefix, matchesRest: () => true, below };
  const pattern = Int32Array.from(tokens.slice(wild));
  return { prefix, matchesRest: (text) => matchTokens(pattern, text, prefix.length), below };
}

export function matcherOf(pattern: string): Matcher {
  const { prefix, matchesRest } = compileWildcard([{ text: pattern, literal: false }]);
  return (text) => text.startsWith(prefix) && matchesRest(text);
}

const star = 0x2a;
const question = 0x3f;

function textOf(units: readonly number[]): string {
  let text = '';
  for (const unit of units) text += String.fromCharCode(unit);
  return text;
}

function matchTokens(pattern: Int32Array, text: string, from: number): boolean {
  let at = from;
  let token = 0;
  let retryToken = -1;
  let retryAt = 0;
  while (at < text.length || token < pattern.length) {
    const wanted = pattern[token];
    if (wanted === anyRun) {
      retryToken = token++;
      retryAt = at;
      continue;
    }
    if (at < text.length && wanted !== undefined) {
      if (wanted === anyOne) {
        at += codePointLength(text, at);
        token++;
        continue;
      }
      if (wanted === text.charCodeAt(at)) {
        at++;
        token++;
        continue;
      }
    }
    if (retryToken < 0 || retryAt >= text.length) return false;
    retryAt += codePointLength(text, retryAt);
    at = retryAt;
    token = retryToken + 1;
  }
  return true;
}

/**
 * Reads `start` with every way through the pattern at once. Where one is left, some text goes on from there; all do
 * when one stands at a final `*`, and only then: no other end of a pattern matches both nothing and everything.
 */
function overlapBelow(tokens: readonly number[], start: string): Overlap {
  let places = withSkippedRuns(tokens, [0]);
  for (let at = 0; at < start.length && places.size > 0;) {
    const length = codePointLength(start, at);
    const next: number[] = [];
    for (const place of places) {
      const token = tokens[place];
      if (token === anyRun) next.push(place);
      else if (token === anyOne) next.push(place + 1);
      else if (matchesLiterally(tokens, place, start, at, length)) next.push(place + length);
    }
    places = withSkippedRuns(tokens, next);
    at += length;
  }
  if (places.size === 0) return 'none';
  return tokens.at(-1) === anyRun && places.has(tokens.length - 1) ? 'all' : 'some';
}

/** A run may be empty: a way that stands before it also stands behind it. */
function withSkippedRuns(tokens: readonly number[], places: readonly number[]): Set<number> {
  const all = new Set(places);
  for (const place of all) if (tokens[place] === anyRun) all.add(place + 1);
  return all;
}

function matchesLiterally(
  tokens: readonly number[],
  place: number,
  text: string,
  at: number,
  length: number,
): boolean {
  for (let unit = 0; unit < length; unit++) {
    if (tokens[place + unit] !== text.charCodeAt(at + unit)) return false;
  }
  return true;
}

function codePointLength(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit < 0xd800 || unit > 0xdbff || at + 1 >= text.length) return 1;
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff ? 2 : 1;
}
