import { S3Error } from './errors/s3-error.ts';
import { headerText, type S3Request } from './request/s3-request.ts';

/** What pages of other origins may do: `gateways.s3.cors`. */
export interface CorsRules {
  /** `https://app.example.com`, with at most one `*` in it; empty: nothing is allowed. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  /** Request headers, with at most one `*` in each. */
  readonly headers: readonly string[];
  /** Response headers a page may read. */
  readonly exposed: readonly string[];
  /** How long a browser may remember the answer. */
  readonly maxAgeSeconds: number;
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'POST', 'DELETE']);
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const vary = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method';

/** Answers a browser that asks what it may send. Asks for no signature: browsers send none here. */
export function preflightHeaders(request: S3Request, rules: CorsRules | undefined): Record<string, string> {
  const origin = headerText(request, 'origin');
  if (origin === undefined)
    throw new S3Error('BadRequest', 'Insufficient information. Origin request header needed.');
  const method = request.headers.get('access-control-request-method') ?? '';
  if (!methods.has(method))
    throw new S3Error('BadRequest', `Invalid Access-Control-Request-Method: ${method}`);
  const asked = headerText(request, 'access-control-request-headers')?.split(',') ?? [];
  for (const name of asked)
    if (!token.test(name.trim()))
      throw new S3Error(
        'BadRequest',
        `Access-Control-Request-Headers "${Buffer.from(name, 'latin1').toString()}" contains invalid character.`,
      );
  if (rules === undefined || rules.origins.length === 0)
    throw new S3Error('AccessForbidden', 'CORSResponse: CORS is not enabled for this bucket.');
  const mayAsk =
    isAmong(rules.origins, origin) &&
    rules.methods.includes(method) &&
    asked.every((name) => isAmong(rules.headers, name.trim().toLowerCase()));
  if (!mayAsk) throw new S3Error('AccessForbidden');
  return {
    ...originHeaders(rules, origin),
    'Access-Control-Allow-Methods': rules.methods.join(', '),
    ...(asked.length === 0
      ? {}
      : { 'Access-Control-Allow-Headers': asked.map((name) => name.trim()).join(', ') }),
    'Access-Control-Max-Age': String(rules.maxAgeSeconds),
  };
}

/** What every answer to a page of an allowed origin says besides. */
export function corsHeaders(
  request: S3Request,
  rules: CorsRules | undefined,
): Record<string, string> | undefined {
  if (rules === undefined) return undefined;
  const origin = headerText(request, 'origin');
  if (origin === undefined || !isAmong(rules.origins, origin)) return undefined;
  if (!rules.methods.includes(request.method)) return undefined;
  return originHeaders(rules, origin);
}

/** Never with credentials: a cookie of the web UI must not speak for a foreign page. */
function originHeaders(rules: CorsRules, origin: string): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': rules.origins.includes('*') ? '*' : origin,
    ...(rules.exposed.length === 0 ? {} : { 'Access-Control-Expose-Headers': rules.exposed.join(', ') }),
    Vary: vary,
  };
}

/** A page that is about to send a request asks without a signature; the headers it names tell whom it means. */
export function isPreflight(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  const asked = headers['access-control-request-headers'];
  return typeof asked === 'string' && /(?:^|,)\s*(?:x-amz-|authorization\b)/i.test(asked);
}

function isAmong(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => {
    const star = pattern.indexOf('*');
    if (star < 0) return pattern.toLowerCase() === text.toLowerCase();
    const [start, end] = [pattern.slice(0, star).toLowerCase(), pattern.slice(star + 1).toLowerCase()];
    const lower = text.toLowerCase();
    return lower.length >= start.length + end.length && lower.startsWith(start) && lower.endsWith(end);
  });
}
