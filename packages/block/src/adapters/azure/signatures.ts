import { createHmac } from 'node:crypto';

/** The version of the service whose rules all requests follow. */
export const apiVersion = '2023-11-03';

export interface SignedRequest {
  readonly method: string;
  readonly account: string;
  /** Encoded, as it is sent. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly contentLength: number;
}

const signedHeaders = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-type',
  'date',
  'if-modified-since',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'range',
] as const;

/** The value of `Authorization` made with an account key. */
export function sharedKeyAuthorization(request: SignedRequest, key: Buffer): string {
  const { account, headers, contentLength } = request;
  const standard = signedHeaders.map((name) =>
    name === 'content-length' ? (contentLength > 0 ? String(contentLength) : '') : (headers[name] ?? ''),
  );
  const own = Object.keys(headers)
    .filter((name) => name.startsWith('x-ms-'))
    .sort()
    .map((name) => `${name}:${headers[name]}`);
  const query = request.query
    .map(([name, value]) => `${name.toLowerCase()}:${value}`)
    .sort()
    .map((line) => `\n${line}`);
  const text = [request.method, ...standard, ...own, `/${account}${request.path}${query.join('')}`].join(
    '\n',
  );
  return `SharedKey ${account}:${hmac(key, text)}`;
}

/** What signs URLs: an account key, or a key that the service gives to an identity to sign in its name. */
export interface AccessSigner {
  readonly value: Buffer;
  readonly expiration?: Date | undefined;
  /** Of a delegated key: object id, tenant id, start, expiry, service and version. */
  readonly delegation: readonly string[];
}

export interface SharedAccess {
  readonly account: string;
  readonly container: string;
  readonly key: string;
  readonly permissions: string;
  readonly expiry: Date;
  readonly httpsOnly: boolean;
  readonly contentDisposition: string | undefined;
}

/** The query of a URL that carries its own permission (a service SAS of one blob). */
export function sharedAccessQuery(access: SharedAccess, signer: AccessSigner): [string, string][] {
  const expiry = withoutMilliseconds(access.expiry);
  const resource = `/blob/${access.account}/${access.container}/${access.key}`;
  const protocol = access.httpsOnly ? 'https' : '';
  const disposition = access.contentDisposition ?? '';
  // Start, address range, snapshot, encryption scope and the other response headers are never restricted.
  const text = [
    access.permissions,
    '',
    expiry,
    resource,
    ...(signer.delegation.length === 0 ? [''] : [...signer.delegation, '', '', '']),
    '',
    protocol,
    apiVersion,
    'b',
    '',
    '',
    '',
    disposition,
    '',
    '',
    '',
  ].join('\n');
  const query: [string, string][] = [
    ['sv', apiVersion],
    ['sr', 'b'],
    ['sp', access.permissions],
    ['se', expiry],
  ];
  if (protocol !== '') query.push(['spr', protocol]);
  if (disposition !== '') query.push(['rscd', disposition]);
  const names = ['skoid', 'sktid', 'skt', 'ske', 'sks', 'skv'];
  for (const [i, value] of signer.delegation.entries()) query.push([names[i] ?? '', value]);
  query.push(['sig', hmac(signer.value, text)]);
  return query;
}

export function withoutMilliseconds(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

function hmac(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64');
}
