import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

/** AWS Signature Version 4 as pure functions: used to sign requests to stores and to verify those of clients. */
export const sigV4Algorithm = 'AWS4-HMAC-SHA256';
export const unsignedPayload = 'UNSIGNED-PAYLOAD';
export const streamingPayload = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
export const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export interface SigV4Scope {
  /** `yyyymmdd`. */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

export interface SigV4Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export function sigV4ScopeText(scope: SigV4Scope): string {
  return `${scope.date}/${scope.region}/${scope.service}/aws4_request`;
}

/** The signing key of a secret for one day, region and service. */
export function deriveSigningKey(secretAccessKey: string, scope: SigV4Scope): KeyObject {
  let key = createHmac('sha256', `AWS4${secretAccessKey}`).update(scope.date).digest();
  for (const part of [scope.region, scope.service, 'aws4_request']) {
    key = createHmac('sha256', key).update(part).digest();
  }
  return createSecretKey(key);
}

/** Keeps the derived keys of recent (secret, scope) pairs: deriving costs four times a signature. */
export class SigningKeyCache {
  readonly #limit: number;
  readonly #keys = new Map<string, KeyObject>();

  constructor(limit = 1000) {
    this.#limit = limit;
  }

  get(secretAccessKey: string, scope: SigV4Scope): KeyObject {
    const name = `${scope.date}/${scope.region}/${scope.service}/${secretAccessKey}`;
    let key = this.#keys.get(name);
    if (key === undefined) {
      key = deriveSigningKey(secretAccessKey, scope);
      if (this.#keys.size >= this.#limit) this.#keys.clear();
      this.#keys.set(name, key);
    }
    return key;
  }
}

/** `YYYYMMDDTHHMMSSZ`. */
export function sigV4DateTime(date: Date): string {
  const iso = date.toISOString();
  return `${iso.slice(0, 4)}${iso.slice(5, 7)}${iso.slice(8, 13)}${iso.slice(14, 16)}${iso.slice(17, 19)}Z`;
}

const hexPairs = Array.from(
  { length: 256 },
  (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
);
const unreserved = /^[A-Za-z0-9\-_.~]*$/;
const unreservedOrSlash = /^[A-Za-z0-9\-_.~/]*$/;

function isUnreserved(byte: number): boolean {
  return (
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2d ||
    byte === 0x5f ||
    byte === 0x2e ||
    byte === 0x7e
  );
}

/** Percent-encodes every byte but `A-Z a-z 0-9 - _ . ~` (and `/` when asked to keep it). Strings count as UTF-8. */
export function sigV4Encode(text: string | Uint8Array, slash: 'keep' | 'encode'): string {
  if (typeof text === 'string' && (slash === 'keep' ? unreservedOrSlash : unreserved).test(text)) return text;
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  let encoded = '';
  for (const byte of bytes) {
    encoded +=
      isUnreserved(byte) || (byte === 0x2f && slash === 'keep') ? String.fromCharCode(byte) : hexPairs[byte];
  }
  return encoded;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/**
 * Percent-decodes once to bytes. A `%` without two hex digits stands for itself, as clients that sign such paths
 * mean it. Header and request lines arrive as latin1, so characters above 0x7f are their own bytes; text from
 * elsewhere is taken as UTF-8.
 */
export function sigV4Decode(text: string, plus: 'space' | 'plus'): Buffer {
  // oxlint-disable-next-line no-control-regex
  const bytes = Buffer.from(text, /^[\u0000-\u00ff]*$/.test(text) ? 'latin1' : 'utf8');
  let length = 0;
  for (let index = 0; index < bytes.length; index++) {
    let byte = bytes[index] ?? 0;
    if (byte === 0x25) {
      const high = hexDigit(bytes[index + 1] ?? 0);
      const low = hexDigit(bytes[index + 2] ?? 0);
      if (high >= 0 && low >= 0) {
        byte = high * 16 + low;
        index += 2;
      }
    } else if (byte === 0x2b && plus === 'space') {
      byte = 0x20;
    }
    bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}

/** The path as signed: decoded once, encoded again; dot segments and double slashes stay. */
export function canonicalUri(rawPath: string): string {
  if (rawPath === '') return '/';
  return unreservedOrSlash.test(rawPath) ? rawPath : sigV4Encode(sigV4Decode(rawPath, 'plus'), 'keep');
}

/** The query as signed: every pair re-encoded and sorted; `omit` leaves out one decoded name. */
export function canonicalQuery(rawQuery: string, omit?: string): string {
  const pairs: [string, string][] = [];
  eachQueryPair(rawQuery, (rawName, rawValue) => {
    const name = recode(rawName);
    if (name !== omit) pairs.push([name, recode(rawValue)]);
  });
  return joinQuery(pairs);
}

/** Calls `visit` with every pair as it came; looks at each character of a hostile query no more than twice. */
export function eachQueryPair(rawQuery: string, visit: (name: string, value: string) => void): void {
  let equals = rawQuery.indexOf('=');
  for (let start = 0; start < rawQuery.length;) {
    const ampersand = rawQuery.indexOf('&', start);
    const end = ampersand < 0 ? rawQuery.length : ampersand;
    if (equals >= 0 && equals < start) equals = rawQuery.indexOf('=', start);
    if (equals >= 0 && equals < end) visit(rawQuery.slice(start, equals), rawQuery.slice(equals + 1, end));
    else if (end > start) visit(rawQuery.slice(start, end), '');
    start = end + 1;
  }
}

function recode(text: string): string {
  return unreserved.test(text) ? text : sigV4Encode(sigV4Decode(text, 'space'), 'encode');
}

/** Encodes, sorts and joins query pairs given as plain text. */
export function encodeQuery(pairs: Iterable<readonly [name: string, value: string]>): string {
  const encoded: [string, string][] = [];
  for (const [name, value] of pairs)
    encoded.push([sigV4Encode(name, 'encode'), sigV4Encode(value, 'encode')]);
  return joinQuery(encoded);
}

function joinQuery(pairs: [string, string][]): string {
  // Most clients send their pairs in this order.
  if (pairs.some((pair, index) => index > 0 && comparePairs(pairs[index - 1] ?? pair, pair) > 0))
    pairs.sort(comparePairs);
  let joined = '';
  for (const [name, value] of pairs) joined += joined === '' ? `${name}=${value}` : `&${name}=${value}`;
  return joined;
}

// Encoded text is ASCII, so comparing strings compares bytes.
function comparePairs([a, x]: [string, string], [b, y]: [string, string]): number {
  return a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0;
}

/** A header value as signed: trimmed, inner runs of blanks made one. */
export function canonicalHeaderValue(value: string): string {
  const trimmed = value.trim();
  return /[ \t]{2,}|\t/.test(trimmed) ? trimmed.replaceAll(/[ \t]+/g, ' ') : trimmed;
}

export interface CanonicalRequest {
  readonly method: string;
  /** From `canonicalUri`. */
  readonly uri: string;
  /** From `canonicalQuery` or `encodeQuery`. */
  readonly query: string;
  /** Lower-case names with their values (repeated headers already joined by `,`), in the order they are signed. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** SHA-256 of the body in hex, or one of the payload markers. */
  readonly payloadHash: string;
}

export function canonicalRequestText(request: CanonicalRequest): string {
  let headers = '';
  let names = '';
  for (const [name, value] of request.headers) {
    headers += `${name}:${canonicalHeaderValue(value)}\n`;
    names += names === '' ? name : `;${name}`;
  }
  return `${request.method}\n${request.uri}\n${request.query}\n${headers}\n${names}\n${request.payloadHash}`;
}

/** The signature of a request, in hex. */
export function signCanonicalRequest(
  key: KeyObject,
  dateTime: string,
  scope: SigV4Scope,
  request: CanonicalRequest,
): string {
  // Header values are latin1 on the wire, so that is what is hashed.
  const digest = hash('sha256', Buffer.from(canonicalRequestText(request), 'latin1'), 'hex');
  return hmacHex(key, `${sigV4Algorithm}\n${dateTime}\n${sigV4ScopeText(scope)}\n${digest}`);
}

function hmacHex(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

/** Signs the chunks of one `aws-chunked` body, each chained to the one before. */
export class ChunkSigner {
  readonly #key: KeyObject;
  readonly #prefix: string;
  #previous: string;

  constructor(key: KeyObject, dateTime: string, scope: SigV4Scope, requestSignature: string) {
    this.#key = key;
    this.#prefix = `${dateTime}\n${sigV4ScopeText(scope)}\n`;
    this.#previous = requestSignature;
  }

  /** The signature of the next chunk, given the SHA-256 of its data in hex. */
  chunk(dataSha256: string): string {
    this.#previous = hmacHex(
      this.#key,
      `${sigV4Algorithm}-PAYLOAD\n${this.#prefix}${this.#previous}\n${emptySha256}\n${dataSha256}`,
    );
    return this.#previous;
  }

  /** The signature of the trailer after the zero-length chunk. */
  trailer(trailers: readonly (readonly [name: string, value: string])[]): string {
    const lines = trailers.map(([name, value]) => `${name.toLowerCase()}:${value.trim()}\n`).sort();
    const digest = hash('sha256', Buffer.from(lines.join(''), 'latin1'), 'hex');
    return hmacHex(this.#key, `${sigV4Algorithm}-TRAILER\n${this.#prefix}${this.#previous}\n${digest}`);
  }
}

export interface RequestToSign {
  readonly method: string;
  /** Encoded path as it goes on the wire. */
  readonly path: string;
  /** Query from `encodeQuery`. */
  readonly query: string;
  /** Lower-case names; must hold `host`. Every header given is signed. */
  readonly headers: Record<string, string>;
  readonly payloadHash: string;
}

export interface SigningContext {
  readonly credentials: SigV4Credentials;
  readonly region: string;
  readonly service: string;
  readonly now: Date;
  readonly keys: SigningKeyCache;
}

export interface SignedRequest {
  readonly headers: Record<string, string>;
  /** For the chunks of a streaming payload. */
  readonly chunkSigner: ChunkSigner;
}

/** Adds the date, token, payload and authorization headers. */
export function signRequest(request: RequestToSign, context: SigningContext): SignedRequest {
  const { credentials, now, keys } = context;
  const dateTime = sigV4DateTime(now);
  const scope = { date: dateTime.slice(0, 8), region: context.region, service: context.service };
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-content-sha256': request.payloadHash,
    'x-amz-date': dateTime,
  };
  if (credentials.sessionToken !== undefined) headers['x-amz-security-token'] = credentials.sessionToken;
  const names = Object.keys(headers).sort();
  const key = keys.get(credentials.secretAccessKey, scope);
  const signature = signCanonicalRequest(key, dateTime, scope, {
    method: request.method,
    uri: canonicalUri(request.path),
    query: request.query,
    headers: names.map((name) => [name, headers[name] ?? '']),
    payloadHash: request.payloadHash,
  });
  headers['authorization'] =
    `${sigV4Algorithm} Credential=${credentials.accessKeyId}/${sigV4ScopeText(scope)}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { headers, chunkSigner: new ChunkSigner(key, dateTime, scope, signature) };
}

export interface RequestToPresign {
  readonly method: string;
  readonly host: string;
  /** Encoded path. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly expiresSeconds: number;
}

/** The query string, signature included, of a pre-signed URL that signs only `host`. */
export function presignQuery(request: RequestToPresign, context: SigningContext): string {
  const { credentials, now, keys } = context;
  const dateTime = sigV4DateTime(now);
  const scope = { date: dateTime.slice(0, 8), region: context.region, service: context.service };
  const pairs: (readonly [string, string])[] = [
    ...request.query,
    ['X-Amz-Algorithm', sigV4Algorithm],
    ['X-Amz-Credential', `${credentials.accessKeyId}/${sigV4ScopeText(scope)}`],
    ['X-Amz-Date', dateTime],
    ['X-Amz-Expires', String(request.expiresSeconds)],
    ['X-Amz-SignedHeaders', 'host'],
  ];
  if (credentials.sessionToken !== undefined) pairs.push(['X-Amz-Security-Token', credentials.sessionToken]);
  const query = encodeQuery(pairs);
  const signature = signCanonicalRequest(keys.get(credentials.secretAccessKey, scope), dateTime, scope, {
    method: request.method,
    uri: canonicalUri(request.path),
    query,
    headers: [['host', request.host]],
    payloadHash: unsignedPayload,
  });
  return `${query}&X-Amz-Signature=${signature}`;
}
