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
  if (text === undefined) return absent;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new S3Error('InvalidArgument', `${name} must be an integer between ${min} and ${max}.`);
  return value;
}

export const maxInt32 = 2_147_483_647;

/** `encoding-type`: whether keys are to be percent-encoded. */
export function urlEncoding(query: Query): boolean {
  const type = query.text('encoding-type');
  if (type === undefined) return false;
  if (type !== 'url') throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified in Request');
  return true;
}
