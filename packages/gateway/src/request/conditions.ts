import { parseHttpDate } from '../signature/request-time.ts';

/** What conditional headers compare with. */
export interface Validators {
  /** Without quotes. */
  readonly etag: string;
  readonly modifiedSeconds: number;
}

export function unquote(etag: string): string {
  return etag
    .trim()
    .replace(/^W\//, '')
    .replace(/^"(.*)"$/s, '$1');
}

/** Whether one ETag of a list (or `*`) is the object's. */
export function matchesEtag(header: string, etag: string): boolean {
  const own = unquote(etag);
  return header.split(',').some((item) => item.trim() === '*' || unquote(item) === own);
}

export interface ConditionHeaders {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
  readonly ifUnmodifiedSince: string | undefined;
}

/** The outcome in the order S3 evaluates: match, unmodified, none-match, modified. */
export function evaluateConditions(
  headers: ConditionHeaders,
  object: Validators,
  nowSeconds: number,
): 'proceed' | 'failed' | 'not_modified' {
  if (headers.ifMatch !== undefined) {
    if (!matchesEtag(headers.ifMatch, object.etag)) return 'failed';
  } else {
    const since = pastSeconds(headers.ifUnmodifiedSince, nowSeconds);
    if (since !== undefined && object.modifiedSeconds > since) return 'failed';
  }
  if (headers.ifNoneMatch !== undefined)
    return matchesEtag(headers.ifNoneMatch, object.etag) ? 'not_modified' : 'proceed';
  const since = pastSeconds(headers.ifModifiedSince, nowSeconds);
  return since !== undefined && object.modifiedSeconds <= since ? 'not_modified' : 'proceed';
}

/** Whether the object is still the one `If-Range` names, so that a range may be served. */
export function rangeStillValid(ifRange: string | undefined, object: Validators): boolean {
  if (ifRange === undefined) return true;
  const date = parseHttpDate(ifRange);
  return date === undefined
    ? unquote(ifRange) === unquote(object.etag)
    : object.modifiedSeconds <= Math.floor(date / 1000);
}

/** Unparsable and future dates are ignored. */
function pastSeconds(header: string | undefined, nowSeconds: number): number | undefined {
  const time = header === undefined ? undefined : parseHttpDate(header);
  if (time === undefined) return undefined;
  const seconds = Math.floor(time / 1000);
  return seconds > nowSeconds ? undefined : seconds;
}
