import { invalidArgument } from '../errors/invalid-argument.ts';
import { S3Error } from '../errors/s3-error.ts';
import type { Query } from '../request/query.ts';

export interface IntegerParameter {
  readonly name: string;
  /** Used when the parameter is absent or empty. */
  readonly absent: number;
  readonly min: number;
  readonly max: number;
}

/** A decimal query parameter; anything else is refused by name. */
export function integerParameter(query: Query, { name, absent, min, max }: IntegerParameter): number {
  const text = query.text(name);
  return text === undefined ? absent : readIntegerText(name, text, { min, max });
}

/** A decimal number given as a parameter or a header. */
export function readIntegerText(
  name: string,
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  const isOutside = min > 0 || (/^-\d+$/.test(text) && value >= -maxInt32);
  throw invalidArgument(
    min > 0
      ? `Argument ${name} must be an integer between ${min} and ${max}.`
      : isOutside
        ? `Argument ${text} must be an integer between ${min} and ${max}`
        : `Provided ${text} not an integer or within integer range`,
    name,
    text,
  );
}

export const maxInt32 = 2_147_483_647;

/** `encoding-type`: whether keys are to be percent-encoded. */
export function urlEncoding(query: Query): boolean {
  const type = query.text('encoding-type');
  if (type === undefined) return false;
  if (type !== 'url') throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified in Request');
  return true;
}
