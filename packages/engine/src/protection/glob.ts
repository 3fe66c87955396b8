import { invalid } from '../context/refusals.ts';

/**
 * Compiles a branch pattern, matched against the whole name: `*` any run, `?` one character, `[abc]`, `[a-z]`,
 * `[!a]`, `{x,y}` alternatives, `\` escapes. Throws on a malformed pattern.
 */
export function compilePattern(pattern: string): RegExp {
  let source = '';
  let depth = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern.charAt(at);
    if (char === '*') source += '[^]*';
    else if (char === '?') source += '[^]';
    else if (char === '[') {
      const end = classEnd(pattern, at);
      source += characterClass(pattern.slice(at + 1, end), pattern);
      at = end;
    } else if (char === '{') {
      depth += 1;
      source += '(?:';
    } else if (char === '}' && depth > 0) {
      depth -= 1;
      source += ')';
    } else if (char === ',' && depth > 0) source += '|';
    else if (char === '\\') {
      at += 1;
      if (at >= pattern.length) throw malformed(pattern, 'it ends in a backslash');
      source += escaped(pattern.charAt(at));
    } else source += escaped(char);
  }
  if (depth > 0) throw malformed(pattern, 'a { is not closed');
  return new RegExp(`^(?:${source})$`, 'u');
}

function classEnd(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern.charAt(at) === '!') at += 1;
  // A bracket right after the opening is a member, not the end.
  if (pattern.charAt(at) === ']') at += 1;
  for (; at < pattern.length; at += 1) {
    if (pattern.charAt(at) === '\\') at += 1;
    else if (pattern.charAt(at) === ']') return at;
  }
  throw malformed(pattern, 'a [ is not closed');
}

function characterClass(body: string, pattern: string): string {
  const negated = body.startsWith('!');
  const members = negated ? body.slice(1) : body;
  if (members === '') throw malformed(pattern, 'a [] is empty');
  let source = '';
  for (let at = 0; at < members.length; at += 1) {
    let char = members.charAt(at);
    if (char === '\\') {
      at += 1;
      char = members.charAt(at);
    }
    const isRange = char !== '' && members.charAt(at + 1) === '-' && at + 2 < members.length;
    if (!isRange) {
      source += escaped(char);
      continue;
    }
    const to = members.charAt(at + 2);
    if (to < char) throw malformed(pattern, `the range ${char}-${to} is backwards`);
    source += `${escaped(char)}-${escaped(to)}`;
    at += 2;
  }
  return `[${negated ? '^' : ''}${source}]`;
}

function escaped(char: string): string {
  // An escaped dash is an error outside a class and needed inside one; its code is right in both places.
  return char === '-' ? '\\x2d' : char.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
}

function malformed(pattern: string, reason: string): Error {
  return invalid(`invalid branch pattern '${pattern}': ${reason}`, 'rules');
}
