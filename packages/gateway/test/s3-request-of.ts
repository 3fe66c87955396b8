import { queryOf } from '../src/request/query.ts';
import { collectHeaders, splitTarget, type S3Request } from '../src/request/s3-request.ts';

/** A request as the wire would bring it, without a server. */
export function s3RequestOf(
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> | readonly string[],
): S3Request {
  const { rawPath, rawQuery } = splitTarget(target);
  return {
    method,
    rawPath,
    rawQuery,
    query: queryOf(rawQuery),
    headers: collectHeaders(Array.isArray(headers) ? headers : Object.entries(headers).flat()),
    remoteAddress: '127.0.0.1',
    encrypted: false,
  };
}
