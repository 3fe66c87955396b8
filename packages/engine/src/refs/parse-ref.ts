import { invalid } from '../context/refusals.ts';
import { required } from '../names/names.ts';
import { parseBracedTime, parseCompactTime, timeForms, type RefTime } from './parse-time.ts';

export type RefModifier =
  | { readonly kind: 'ancestor'; readonly count: number }
  | { readonly kind: 'parent'; readonly number: number }
  | { readonly kind: 'committed' }
  | { readonly kind: 'staged' };

/** `base`, perhaps as of a time, followed by modifiers, applied left to right. */
export interface RefExpression {
  readonly base: string;
  readonly time?: RefTime | undefined;
  readonly modifiers: readonly RefModifier[];
}

const whitespace = /[\t\n\v\f\r ]/;
const basePattern = /^[^~^@$]+/;
const modifierPattern = /([~^@$])(\d*)/y;
const bracedPattern = /@\{([^{}]*)\}/y;
const compactPattern = /@([^~^@${}]+)/y;

/** Reads a ref expression such as `main`, `main~2^2`, `dev$`, `main@{yesterday}` or a commit id prefix. */
export function parseRef(ref: string, argument = 'ref'): RefExpression {
  if (ref === '') throw required(argument);
  const base = basePattern.exec(ref)?.[0];
  if (base === undefined || !ref.isWellFormed()) throw malformed(ref, argument);
  const timed = ref[base.length] === '@' ? readTime(ref, base.length) : undefined;
  const rest = timed?.end ?? base.length;
  // Blanks belong between braces only.
  if (whitespace.test(base) || whitespace.test(ref.slice(rest))) throw malformed(ref, argument);
  const modifiers = readModifiers(ref, rest, argument);
  const overlay = modifiers.some((modifier) => modifier.kind === 'committed' || modifier.kind === 'staged');
  if (overlay && (modifiers.length > 1 || timed !== undefined)) throw malformed(ref, argument);
  return timed === undefined ? { base, modifiers } : { base, time: timed.time, modifiers };
}

/** Whether a ref asks for a time, well-formed or not: nothing else has an `@` before its end. */
export function isTimeRef(ref: string): boolean {
  // Most refs have none, and every read asks.
  return ref.includes('@') && /^[^~^@$]+@./.test(ref);
}

function readTime(ref: string, at: number): { readonly time: RefTime; readonly end: number } | undefined {
  for (const [pattern, parse] of [
    [bracedPattern, parseBracedTime],
    [compactPattern, parseCompactTime],
  ] as const) {
    pattern.lastIndex = at;
    const match = pattern.exec(ref);
    const time = match === null ? undefined : parse(match[1] ?? '');
    if (match !== null && time !== undefined) return { time, end: at + match[0].length };
  }
  return undefined;
}

function readModifiers(ref: string, start: number, argument: string): RefModifier[] {
  const modifiers: RefModifier[] = [];
  for (let at = start; at < ref.length; at = modifierPattern.lastIndex) {
    modifierPattern.lastIndex = at;
    const match = modifierPattern.exec(ref);
    if (match === null) throw malformed(ref, argument);
    modifiers.push(toModifier(match[1] ?? '', match[2] ?? '', ref, argument));
  }
  return modifiers;
}

function toModifier(sign: string, digits: string, ref: string, argument: string): RefModifier {
  if (sign === '@' || sign === '$') {
    if (digits !== '') throw malformed(ref, argument);
    return { kind: sign === '@' ? 'committed' : 'staged' };
  }
  if (digits.length > 19 || (digits.length === 19 && digits > '9223372036854775807'))
    throw malformed(ref, argument);
  const count = digits === '' ? 1 : Number(digits);
  return sign === '~' ? { kind: 'ancestor', count } : { kind: 'parent', number: count };
}

function malformed(ref: string, argument: string): Error {
  const forms = ref.includes('@') ? `; times are ${timeForms}` : '';
  return invalid(
    `argument ${argument}: ref '${ref}': invalid value: validation error: expected a branch, tag or commit followed by ~N, ^N, @ or $, or a branch or tag at a time followed by ~N or ^N${forms}`,
    'ref',
  );
}
