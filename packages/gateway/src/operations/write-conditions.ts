import type { WriteCondition } from '@svc/engine';
import type { Call } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { unquote } from '../request/conditions.ts';
import { notHonoured } from './refused-headers.ts';
import { headerText, type S3Request } from '../request/s3-request.ts';

/** `If-None-Match: *` and `If-Match` of a write. */
export function writeConditionOf(request: S3Request): WriteCondition {
  const ifNoneMatch = headerText(request, 'if-none-match');
  const ifMatch = headerText(request, 'if-match');
  if (ifNoneMatch === undefined) return ifMatch === undefined ? {} : { ifMatch: unquote(ifMatch) };
  if (ifMatch !== undefined) throw notHonoured('If-Match, If-None-Match');
  if (ifNoneMatch.trim() !== '*') throw notHonoured('If-None-Match');
  return { ifNoneMatch: '*' };
}

const branchName = /^[0-9A-Za-z_][-0-9A-Za-z_]*$/;

/** Writes go to branches; a ref that cannot be one is a bucket that does not exist. */
export function branchOf(call: Call): string {
  if (!isBranchName(call.ref)) throw new S3Error('NoSuchBucket');
  return call.ref;
}

export function isBranchName(ref: string): boolean {
  return branchName.test(ref);
}
