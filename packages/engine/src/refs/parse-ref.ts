import { invalid } from '../context/refusals.ts';
import { required } from '../names/names.ts';

export type RefModifier =
  | { readonly kind: 'ancestor'; readonly count: number }
  | { readonly kind: 'parent'; readonly number: number }
  | { readonly kind: 'committed' }
  | { readonly kind: 'staged' };

/** `base` followed by modifiers, applied left to right. */
export interface RefExpression {
  readonly base: string;
  readonly modifiers: readonly RefModifier[];
}

const whitespace = /[\t\n\v\f\r ]/;
const basePattern = /^[^~^@$]+/;
const modifierPattern = /([~^@$])(\d*)/y;

/** Reads a ref expression such as `main`, `main~2^2`, `dev$` or a commit id prefix. */
export function parseRef(ref: string, argument = 'ref'): RefExpression {
  if (ref === '') throw required(argument);
  const base = basePattern.exec(ref)?.[0];
  if (base === undefined || whitespace.test(ref) || !ref.isWellFormed()) throw malformed(ref, argument);
  const modifiers: RefModifier[] = [];
  for (let at = base.length; at < ref.length; at = modifierPattern.lastIndex) {
    modifierPattern.lastIndex = at;
    const match = modifierPattern.exec(ref);
    if (match === null) throw malformed(ref, argument);
    modifiers.push(toModifier(match[1] ?? '', match[2] ?? '', ref, argument));
  }
  const overlay = modifiers.some((modifier) => modifier.kind === 'committed' || modifier.kind === 'staged');
  if (overlay && modifiers.length > 1) throw malformed(ref, argument);
  return { base, modifiers };
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
  return invalid(
    `argument ${argument}: ref '${ref}': invalid value: validation error: expected a branch, tag or commit followed by ~N, ^N, @ or $`,
    'ref',
  );
}
