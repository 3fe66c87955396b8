import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { KvError } from '../../errors.ts';

/** `prefer`: encrypt when the server can, without looking at its certificate, as libpq does by default. */
export type Encryption = ConnectionOptions | false | 'prefer';

export interface PostgresHost {
  readonly host: string | undefined;
  readonly port: number | undefined;
}

export interface PostgresAddress extends PostgresHost {
  /** Further servers of one cluster: whichever takes writes is used. */
  readonly others?: readonly PostgresHost[] | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly applicationName: string | undefined;
  readonly connectTimeoutMs: number | undefined;
  readonly encryption: Encryption;
  /** Settings of the session, such as `search_path`, in the form the server takes them at the start. */
  readonly options: string;
  readonly table: string;
}

/** Parameters of libpq and of other drivers that mean nothing here. */
const ignored =
  /^(pool_\w+|target_session_attrs|fallback_application_name|keepalives\w*|tcp_user_timeout|sslpassword|sslsni|sslcompression|gssencmode|krbsrvname|channel_binding|uselibpqcompat|default_query_exec_mode|statement_cache_\w+|description_cache_capacity|client_encoding|passfile|service)$/;

/** What every session gets unless the connection string says otherwise. */
const sessionDefaults = new Map([
  ['statement_timeout', '30000'],
  // Compare-and-set relies on the row being looked at again after waiting for its lock.
  ['default_transaction_isolation', 'read committed'],
  // Every statement is a few looks into an index. A connection keeps its plans, and one made while a table was small must
  // not read all of it when it has grown.
  ['enable_seqscan', 'off'],
  ['enable_bitmapscan', 'off'],
  // With few rows asked for, the server thinks that a plan for just those is worth planning again each time: planning a
  // change takes longer than the change.
  ['plan_cache_mode', 'force_generic_plan'],
]);

/** Reads a URL (`postgres://…`) or a DSN (`host=… user=…`). Errors never repeat the string: it holds a password. */
export function parseConnectionString(text: string): PostgresAddress {
  const parameters = /^postgres(ql)?:\/\//i.test(text) ? urlParameters(text) : dsnParameters(text);
  const take = (name: string): string | undefined => {
    const value = parameters.get(name);
    parameters.delete(name);
    return value === '' ? undefined : value;
  };
  const table = take('svckv_table') ?? take('lakefskv_table') ?? 'kv';
  parameters.delete('lakefskv_table');
  const hosts = hostList(take('host'), take('hostaddr'), take('port'));
  const database = take('dbname') ?? take('database');
  const connectTimeout = take('connect_timeout');
  const address = {
    host: hosts[0]?.host,
    port: hosts[0]?.port,
    ...(hosts.length > 1 && { others: hosts.slice(1) }),
    user: take('user'),
    password: take('password'),
    database,
    applicationName: take('application_name'),
    connectTimeoutMs:
      connectTimeout === undefined ? undefined : wholeNumber('connect_timeout', connectTimeout) * 1000,
    encryption: encryption(hosts[0]?.host, take),
    table,
  };
  return { ...address, options: sessionOptions(take('options'), parameters) };
}

/** Scheme with user information, the first host, the others each with its comma. */
const severalHosts = /^([a-z]+:\/\/(?:[^@/]*@)?)([^,/?]*)((?:,[^,/?]*)+)/i;

/** libpq's lists: a port for each host, or one for all. */
function hostList(
  host: string | undefined,
  address: string | undefined,
  port: string | undefined,
): PostgresHost[] {
  const hosts = (address ?? host)?.split(',') ?? [undefined];
  const ports = port?.split(',') ?? [''];
  if (ports.length !== 1 && ports.length !== hosts.length) {
    throw invalid(`it names ${hosts.length} hosts and ${ports.length} ports`);
  }
  return hosts.map((each, index) => {
    const own = ports.length === 1 ? ports[0] : ports[index];
    return { host: each || undefined, port: own ? wholeNumber('port', own) : undefined };
  });
}

function urlParameters(text: string): Map<string, string> {
  let url: URL;
  try {
    // A URL without a host ("postgres:///db") is allowed; the parser wants one for user information.
    // Of several hosts ("a:1,b:2") only the first is left to it.
    url = new URL(text.replace('@/', '@localhost/').replace(severalHosts, '$1$2'));
  } catch {
    throw invalid('it is neither a valid URL nor a list of key=value pairs');
  }
  const parameters = new Map<string, string>();
  const add = (name: string, value: string): void => {
    if (value !== '') parameters.set(name, decodeURIComponent(value));
  };
  const further = (severalHosts.exec(text)?.[3] ?? '').split(',').slice(1);
  const ports = further.map((each) => /:(\d*)$/.exec(each.replace(/^\[.*\]/, ''))?.[1] ?? '');
  const names = further.map((each) => each.replace(/:\d*$/, ''));
  const bare = (name: string): string => name.replace(/^\[(.+)\]$/, '$1');
  add('host', [url.hostname, ...names].map(bare).join(','));
  add('port', further.length === 0 ? url.port : [url.port, ...ports].join(','));
  add('user', url.username);
  add('password', url.password);
  add('dbname', url.pathname.replace(/^\//, ''));
  for (const [name, value] of url.searchParams) parameters.set(name, value);
  return parameters;
}

function dsnParameters(text: string): Map<string, string> {
  const parameters = new Map<string, string>();
  const pair = /\s*([A-Za-z_][\w.]*)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s\\']|\\.)*))(?=\s|$)/y;
  const trimmed = text.trim();
  while (pair.lastIndex < trimmed.length) {
    const match = pair.exec(trimmed);
    if (match === null) throw invalid('it is neither a URL (postgres://…) nor a list of key=value pairs');
    const value = match[2] ?? match[3] ?? '';
    parameters.set(match[1] ?? '', value.replaceAll(/\\(.)/g, '$1'));
  }
  if (parameters.size === 0) throw invalid('it is empty');
  return parameters;
}

function encryption(host: string | undefined, take: (name: string) => string | undefined): Encryption {
  const mode = take('sslmode') ?? 'prefer';
  const files = { ca: take('sslrootcert'), cert: take('sslcert'), key: take('sslkey') };
  const socket = host?.startsWith('/') === true;
  if (mode === 'disable' || socket) return false;
  if (mode === 'prefer' || mode === 'allow') return 'prefer';
  const certificates: ConnectionOptions = {};
  for (const name of ['ca', 'cert', 'key'] as const) {
    const file = files[name];
    if (file !== undefined && file !== 'system') certificates[name] = readCertificate(file);
  }
  const anyName = { checkServerIdentity: () => undefined };
  switch (mode) {
    case 'require':
      return files.ca === undefined
        ? { ...certificates, rejectUnauthorized: false }
        : { ...certificates, ...anyName };
    case 'verify-ca':
      return { ...certificates, ...anyName };
    case 'verify-full':
      return certificates;
    default:
      throw invalid(
        `sslmode must be disable, allow, prefer, require, verify-ca or verify-full, not "${mode}"`,
      );
  }
}

function readCertificate(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new KvError(
      'driver_configuration',
      `database.postgres.connection_string: cannot read ${file}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

function sessionOptions(given: string | undefined, parameters: ReadonlyMap<string, string>): string {
  const settings = new Map([...sessionDefaults, ...parameters]);
  const words = given === undefined ? [] : [given];
  for (const [name, value] of settings) {
    if (!ignored.test(name)) words.push(`-c ${name}=${value.replaceAll(/[\\\s]/g, String.raw`\$&`)}`);
  }
  return words.join(' ');
}

function wholeNumber(name: string, value: string): number {
  if (!/^\d+$/.test(value)) throw invalid(`${name} must be a number, not "${value}"`);
  return Number(value);
}

function invalid(reason: string): KvError {
  return new KvError('driver_configuration', `database.postgres.connection_string: ${reason}`);
}
