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
}

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
      else if (unit === question) tokens.push(anyOne);
      else if (tokens.at(-1) !== anyRun) tokens.push(anyRun);
    }
  }
  const wild = tokens.findIndex((token) => token < 0);
  const prefix = textOf(wild < 0 ? tokens : tokens.slice(0, wild));
  if (wild < 0) return { prefix, matchesRest: (text) => text.length === prefix.length };
  if (wild === tokens.length - 1 && tokens[wild] === anyRun) return { prefix, matchesRest: () => true };
  const pattern = Int32Array.from(tokens.slice(wild));
  return { prefix, matchesRest: (text) => matchTokens(pattern, text, prefix.length) };
}

export function compilePattern(pattern: string): Matcher {
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

function codePointLength(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit < 0xd800 || unit > 0xdbff || at + 1 >= text.length) return 1;
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff ? 2 : 1;
}
